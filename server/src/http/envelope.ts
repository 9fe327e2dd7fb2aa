import type { ListRequest } from '../query/list-request.ts'

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

/** The records came as JSON text and stay so: only the numbers around them are written here. */
export function listBody(records: string, count: number, total: number, pages: PageNumbers): string {
  return `{"data":[${records}],"meta":{"count":${count},"total":${total}},"pagination":${JSON.stringify(pages)}}`
}

/** RFC 8288, relative to the request: a proxy may have the service under another name. */
export function linkHeader(path: string, request: ListRequest, pages: PageNumbers): string {
  const link = (page: number, rel: string) => `<${path}?${queryOf(request, page)}>; rel="${rel}"`
  return [
    link(1, 'first'),
    ...(pages.previousPage === null ? [] : [link(pages.previousPage, 'prev')]),
    ...(pages.nextPage === null ? [] : [link(pages.nextPage, 'next')]),
    link(Math.max(pages.totalPages, 1), 'last'),
  ].join(', ')
}

function queryOf({ fields, filterText, limit }: ListRequest, page: number): string {
  const parts = [`page=${page}`, `limit=${limit}`]
  if (filterText !== undefined) parts.unshift(`filter=${encodeURIComponent(filterText)}`)
  if (fields !== undefined) parts.unshift(`fields=${fields.map(encodeURIComponent).join(',')}`)
  return parts.join('&')
}
