import { limits } from '../limits/limits.ts'
import { stateName, type TallyState } from '../tally-state.ts'

/** The response to a read, ready to send, and the state of the data that it shows. */
export interface ReadResponse extends TallyState {
  readonly etag: string
  /** A short body is a string: Node sends it and the headers in one write. A Buffer takes two. */
  readonly body: string | Buffer
  readonly bytes: number
  readonly link: string | undefined
  readonly records: number
  /** The gzipped body, created when the first client accepts it. */
  gzipped?: Promise<Buffer>
}

export function responseOf(
  { epoch, version, xid }: TallyState,
  etag: string,
  text: string | Buffer,
  link: string | undefined,
  records: number,
): ReadResponse {
  const isShort = text.length <= limits.textResponseCharactersMax
  const body = typeof text === 'string' && !isShort ? Buffer.from(text) : text
  return { epoch, version, xid, etag, body, bytes: Buffer.byteLength(body), link, records }
}

/** Weak, because the gzipped and the plain body have the same ETag. */
export function etagOf(state: TallyState, requestHash: string): string {
  return `W/"${stateName(state)}-${requestHash}"`
}
