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

export interface PageNumbers {
  readonly previousPage: number | null
  readonly currentPage: number
  readonly nextPage: number | null
  readonly totalPages: number
}

/** Beyond the last page, the previous page is the last one that exists. */
export function pageNumbers(page: number, limit: number, total: number): PageNumbers {
  const totalPages = Math.ceil(total / limit)
  return {
    previousPage: Math.min(page - 1, totalPages) || null,
    currentPage: page,
    nextPage: page < totalPages ? page + 1 : null,
    totalPages,
  }
}

/** `records` is JSON text from PostgreSQL, which is not parsed. */
export function listBody(records: string, count: string, total: number, pages: PageNumbers): string
export function listBody(
  records: string | Buffer,
  count: string,
  total: number,
  pages: PageNumbers,
): string | Buffer
export function listBody(
  records: string | Buffer,
  count: string,
  total: number,
  pages: PageNumbers,
): string | Buffer {
  const closing = endOf(count, total, pages)
  if (typeof records === 'string') return `${opening}${records}${closing}`
  return Buffer.concat([Buffer.from(opening), records, Buffer.from(closing)])
}

const opening = '{"data":['

function endOf(count: string, total: number, pages: PageNumbers): string {
  return `],"meta":{"count":${count},"total":${total}},"pagination":{"previousPage":${pages.previousPage},"currentPage":${pages.currentPage},"nextPage":${pages.nextPage},"totalPages":${pages.totalPages}}}`
}

/**
 * RFC 8288. The links have no host, because a proxy may serve the service under another name. The tuple is the query
 * string of the list before and after the page number.
 */
export function linkHeader(
  path: string,
  [before, after]: readonly [string, string],
  { previousPage, nextPage, totalPages }: PageNumbers,
): string {
  const start = `<${path}?${before}`
  const link = (page: number, rel: string) => `${start}${page}${after}>; rel="${rel}"`
  const previous = previousPage === null ? '' : `, ${link(previousPage, 'prev')}`
  const next = nextPage === null ? '' : `, ${link(nextPage, 'next')}`
  return `${link(1, 'first')}${previous}${next}, ${link(Math.max(totalPages, 1), 'last')}`
}
