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
