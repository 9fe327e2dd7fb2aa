import { StreamTruncated } from './errors.ts'

/** The last line of a complete export. A truncated export does not have it. */
export interface EndMarker {
  readonly count: number
  /** Identifies the snapshot from which the records were read. */
  readonly version: string
  /** The cursor of that snapshot: `changes({ since: cursor })` continues the export. Undefined if the service does not send one. */
  readonly cursor?: string | undefined
}

/** Yields the records of an export, and returns its end marker. `exact` quotes decimals. Throws StreamTruncated if the export is incomplete. */
export async function* recordsOf<R>(
  chunks: AsyncIterable<Uint8Array>,
  exact: (line: string) => string,
  requestId: string | undefined,
  cursor: string | undefined,
): AsyncGenerator<R, EndMarker, undefined> {
  let count = 0
  const truncated = (why: string, cause?: unknown) => {
    const message = `The export was truncated after ${count} records: ${why}. Start it again.`
    return new StreamTruncated({ status: 200, code: 'stream_truncated', message, requestId, count }, cause)
  }
  const lines = linesOf(chunks)
  for (;;) {
    const next = await lines.next().catch((cause: unknown) => {
      throw truncated('the connection broke', cause)
    })
    if (next.done === true) throw truncated('it ended without its end marker')
    const end = next.value.startsWith('{"$end"') ? endOf(next.value) : undefined
    if (end !== undefined) {
      if (end.count !== count) throw truncated(`its end marker says ${end.count}`)
      return { ...end, cursor }
    }
    const record: R = JSON.parse(exact(next.value))
    count += 1
    yield record
  }
}

function endOf(line: string): EndMarker {
  const { $end }: { readonly $end: EndMarker } = JSON.parse(line)
  return $end
}

/** Yields complete lines only: text after the last line feed is a truncated line. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}
