import { StreamCutShort } from './errors.ts'

/** The last line of an export, which tells a whole one from one that was cut. */
export interface EndMark {
  readonly count: number
  /** Names the state of the data that the records show. */
  readonly version: string
}

/** The records of an export, line by line; its end mark when it is whole, and a StreamCutShort when it is not. */
export async function* recordsOf<R>(
  chunks: AsyncIterable<Uint8Array>,
  requestId: string | undefined,
): AsyncGenerator<R, EndMark, undefined> {
  let count = 0
  const cut = (why: string, cause?: unknown) => {
    const message = `The export was cut short after ${count} records: ${why}. Ask for it again.`
    return new StreamCutShort({ status: 200, code: 'stream_cut_short', message, requestId, count }, cause)
  }
  const lines = linesOf(chunks)
  for (;;) {
    const next = await lines.next().catch((cause: unknown) => {
      throw cut('the connection broke', cause)
    })
    if (next.done === true) throw cut('it ended without its end mark')
    const end = next.value.startsWith('{"$end"') ? endOf(next.value) : undefined
    if (end !== undefined) {
      if (end.count !== count) throw cut(`its end mark counts ${end.count}`)
      return end
    }
    const record: R = JSON.parse(next.value)
    count += 1
    yield record
  }
}

function endOf(line: string): EndMark {
  const { $end }: { readonly $end: EndMark } = JSON.parse(line)
  return $end
}

/** Whole lines only: what follows the last line feed was cut. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}
