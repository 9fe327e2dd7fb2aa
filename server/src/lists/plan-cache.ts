import { print } from '@quartermaster/filter'
import { LRUCache } from 'lru-cache'
import { authorFields } from '../catalog/authors.ts'
import type { Collection } from '../catalog/collection.ts'
import type { Resource } from '../catalog/resources.ts'
import { limits } from '../limits/limits.ts'
import { fieldsHash, hashOf, namesOf } from '../query/fields-hash.ts'
import {
  type ListRequest,
  type ListSource,
  parseExportRequest,
  parseListRequest,
  parseRecordRequest,
} from '../query/list-request.ts'
import {
  type ListPlan,
  planList,
  planRecordFields,
  type Sort,
  withAcceptedSuggestions,
} from '../query/plan.ts'
import type { ExportFormat } from '../query/sql/export-statement.ts'
import type { ListTemplates } from '../query/sql/list-statement.ts'
import { membersOf, type RecordMember } from '../query/sql/record-statement.ts'
import { planSummary, type SummaryPlan, summaryKey } from '../query/summary-plan.ts'
import { parseSummaryRequest } from '../query/summary-request.ts'
import { AdmissionFilter } from './response-cache.ts'

/** A parsed and planned list request, with its cache keys. */
export interface ListQuery {
  readonly plan: ListPlan
  /** Of the statements that have read its pages. */
  readonly templates: ListTemplates
  readonly page: number
  /** The window of ids and the filter in canonical form; empty without both. */
  readonly filterKey: string
  /** The same without `after_id`: of the list of which this one is the rest. */
  readonly wholeKey: string
  /** The order, if it is not by id. */
  readonly sortKey: string | undefined
  /** The page number and a hash of the canonical request: requests with the same requestHash have the same response. */
  readonly requestHash: string
  /** The query string of the list, before and after the page number. */
  readonly pageQuery: readonly [string, string]
  /** The hash of the list without the page number. */
  readonly listHash: string
}

export interface ExportQuery extends Pick<ListQuery, 'plan' | 'filterKey' | 'requestHash'> {
  /** The filter of the change feed that continues this export. Undefined for a window of ids or a search, which the feed does not have. */
  readonly feedFilter: string | undefined
}

export interface RecordQuery {
  readonly members: readonly RecordMember[]
  /** Whether a member is who wrote the record. */
  readonly withAuthors: boolean
  readonly fieldsHash: string
}

/** A parsed and planned summary. Requests with the same requestHash have the same response. */
export interface SummaryQuery {
  readonly plan: SummaryPlan
  readonly requestHash: string
}

/**
 * Clients repeat requests literally, so a plan is cached by the text of its request, on the second request only:
 * otherwise requests that never repeat would fill the old generation of the heap, whose collection is slow. Of a list
 * the first page is cached; its other pages differ in the page number only.
 */
export class PlanCache {
  readonly #admission = new AdmissionFilter(limits.planAdmissionSlots)
  readonly #lists = new LRUCache<string, ListQuery>({ max: limits.plansCached })
  readonly #records = new LRUCache<string, RecordQuery>({ max: limits.plansCached })
  readonly #summaries = new LRUCache<string, SummaryQuery>({ max: limits.plansCached })

  /** `admit` is called before a filter is parsed, and may throw: parsing a long one takes milliseconds. */
  list(resource: Resource, raw: string, source: ListSource, admit?: () => void): ListQuery {
    const number = raw.includes('page=') ? plainPage.exec(raw)?.[2] : undefined
    const first = number === undefined ? raw : raw.replace(plainPage, '$1page=1')
    const list = this.#cached(this.#lists, `${resource.schemaName} ${source} ${first}`, () => {
      if (first.includes('filter=')) admit?.()
      return listQuery(resource, first, source)
    })
    const page = Number(number ?? list.page)
    return page === list.page ? list : { ...list, page, requestHash: pageHash(page, list.listHash) }
  }

  record(resource: Resource, raw: string): RecordQuery {
    return this.#cached(this.#records, `${resource.schemaName} ${raw}`, () => recordQuery(resource, raw))
  }

  /** `admit`: as of `list`. */
  summary(resource: Resource, raw: string, source: ListSource, admit: () => void): SummaryQuery {
    return this.#cached(this.#summaries, `${resource.schemaName} ${source} ${raw}`, () => {
      if (raw.includes('filter=')) admit()
      return summaryQuery(resource, raw, source)
    })
  }

  #cached<Query extends object>(cache: LRUCache<string, Query>, text: string, create: () => Query): Query {
    const existing = cache.get(text)
    if (existing !== undefined) return existing
    const query = create()
    if (text.length <= limits.planTextCharactersMax && this.#admission.add(text)) cache.set(text, query)
    return query
  }
}

/** A valid page number. The parser handles all others, including invalid ones. */
const plainPage = /(^|&)page=([1-9]\d{0,11})(?=&|$)/

function listQuery(resource: Resource, raw: string, source: ListSource): ListQuery {
  const { request, plan } = planned(resource, () => parseListRequest(raw, source))
  const { page } = request
  const filterKey = filterKeyOf(request)
  const sortKey = plan.sort && sortKeyOf(plan.sort)
  const order = sortKey === undefined ? '' : `sort=${sortKey} `
  const listHash = hashOf(`${resource.schemaName} ${plan.limit} ${order}${namesOf(plan.fields)} ${filterKey}`)
  const pageQuery = pageQueryOf(request, plan)
  const requestHash = pageHash(page, listHash)
  const { after_id: _, ...rest } = request.ids
  const wholeKey = plan.after === undefined ? filterKey : filterKeyOf({ ...request, ids: rest })
  return { plan, templates: new Map(), page, filterKey, wholeKey, sortKey, listHash, requestHash, pageQuery }
}

function planned(resource: Resource, parse: () => ListRequest) {
  return withAcceptedSuggestions(resource, () => {
    const request = parse()
    return { request, plan: planList(resource, request) }
  })
}

/** No filter begins with a digit or a hyphen, and none has a NUL, so a window of ids and the words of a search are unambiguous. */
function filterKeyOf({ ids: { after_id, max_id }, filter, search }: ListRequest): string {
  const words = search === undefined ? '' : `\0${search.join(' ')}`
  const text = `${filter === undefined ? '' : print(filter)}${words}`
  return after_id === undefined && max_id === undefined ? text : `${after_id ?? ''}-${max_id ?? ''} ${text}`
}

function sortKeyOf({ field, isDescending }: Sort): string {
  return `${isDescending ? '-' : ''}${field.name}`
}

function pageHash(page: number, listHash: string): string {
  return `${page}-${listHash}`
}

/** Not cached: exports are rare, and parsing is a negligible part of their duration. */
export function exportQuery(
  resource: Resource,
  raw: string,
  source: ListSource,
  format: ExportFormat,
): ExportQuery {
  const { request, plan } = planned(resource, () => parseExportRequest(raw, source))
  const filterKey = filterKeyOf(request)
  const isFeed = Object.keys(request.ids).length === 0 && request.search === undefined
  return {
    plan,
    filterKey,
    feedFilter: isFeed ? filterKey : undefined,
    requestHash: hashOf(`${resource.schemaName} ${format} ${namesOf(plan.fields)} ${filterKey}`),
  }
}

function summaryQuery(resource: Resource, raw: string, source: ListSource): SummaryQuery {
  return withAcceptedSuggestions(resource, () => {
    const request = parseSummaryRequest(raw, source)
    const plan = planSummary(resource, request)
    const filter = request.filter === undefined ? '' : print(request.filter)
    return { plan, requestHash: hashOf(`${resource.schemaName} summary ${summaryKey(plan)} ${filter}`) }
  })
}

function recordQuery(resource: Resource, raw: string): RecordQuery {
  const fields = withAcceptedSuggestions(resource, () => planRecordFields(resource, parseRecordRequest(raw)))
  return {
    members: membersOf(resource, fields),
    withAuthors: fields.some((field) => authorFields.includes(field)),
    fieldsHash: fieldsHash(resource, fields),
  }
}

/**
 * In canonical form, as the requestHash: requests for the same list share one response however they are written, so its
 * links must not depend on how the first request was written.
 */
export function pageQueryOf(
  { filter, search, ids, limit, chosen }: ListRequest,
  { resource, fields, sort }: ListPlan<Collection>,
): [string, string] {
  const parameters = Object.entries({ ...ids, ...(sort && { sort: sortKeyOf(sort) }), ...chosen })
  const parts = [...parameters.map(([name, value]) => `${name}=${value}`), 'page=']
  if (search !== undefined) parts.unshift(`search=${encodeURIComponent(search.join(' '))}`)
  if (filter !== undefined) parts.unshift(`filter=${encodeURIComponent(print(filter))}`)
  const names = namesOf(fields)
  if (names !== namesOf(resource.fields)) parts.unshift(`fields=${names}`)
  return [parts.join('&'), `&limit=${limit}`]
}
