import { hash } from 'node:crypto'
import { print } from '@quartermaster/filter'
import { LRUCache } from 'lru-cache'
import type { Collection } from '../catalog/collection.ts'
import type { Field } from '../catalog/field.ts'
import type { Resource } from '../catalog/resources.ts'
import { limits } from '../limits/limits.ts'
import {
  type ListRequest,
  type ListSource,
  parseExportRequest,
  parseListRequest,
  parseRecordRequest,
} from '../query/list-request.ts'
import { type ListPlan, planList, planRecordFields } from '../query/plan.ts'
import type { ExportFormat } from '../query/sql/export-statement.ts'
import { withAcceptedSuggestions } from '../query/suggestions.ts'
import { AdmissionFilter } from './admission-filter.ts'

/** A parsed and planned list request, with its cache keys. */
export interface ListQuery {
  readonly plan: ListPlan
  readonly page: number
  /** The window of ids and the filter in canonical form; empty without both. */
  readonly filterKey: string
  /** The page number and a hash of the canonical request: requests with the same requestHash have the same response. */
  readonly requestHash: string
  /** The query string of the list, before and after the page number. */
  readonly pageQuery: readonly [string, string]
  /** The hash of the list without the page number. */
  readonly listHash: string
}

export interface ExportQuery extends Pick<ListQuery, 'plan' | 'filterKey' | 'requestHash'> {
  /** The filter of the change feed that continues this export. Undefined for a window of ids, which the feed does not have. */
  readonly feedFilter: string | undefined
}

export interface RecordQuery {
  readonly fields: readonly Field[]
  /** A hash of the resource and the fields. */
  readonly requestHash: string
}

/**
 * Clients repeat requests literally, so a plan is cached by the text of its request, on the second request only:
 * otherwise requests that never repeat would fill the old generation of the heap, whose collection is slow. Of a list
 * the first page is cached; its other pages differ in the page number only.
 */
const admission = new AdmissionFilter(limits.planAdmissionSlots)
const listQueries = new LRUCache<string, ListQuery>({ max: limits.plansCached })
const recordQueries = new LRUCache<string, RecordQuery>({ max: limits.plansCached })

/** `admit` is called before a filter is parsed, and may throw: parsing a long one takes milliseconds. */
export function listQuery(
  resource: Resource,
  raw: string,
  source: ListSource,
  admit?: () => void,
): ListQuery {
  const number = raw.includes('page=') ? plainPage.exec(raw)?.[2] : undefined
  if (number === undefined) return firstPage(resource, raw, source, admit)
  const first = firstPage(resource, raw.replace(plainPage, '$1page=1'), source, admit)
  const page = Number(number)
  return page === first.page ? first : atPage(first, page)
}

function atPage(list: ListQuery, page: number): ListQuery {
  return { ...list, page, requestHash: pageHash(page, list.listHash) }
}

/** A valid page number. The parser handles all others, including invalid ones. */
const plainPage = /(^|&)page=([1-9]\d{0,11})(?=&|$)/

function firstPage(
  resource: Resource,
  raw: string,
  source: ListSource,
  admit: (() => void) | undefined,
): ListQuery {
  return cached(listQueries, `${resource.name} ${source} ${raw}`, () => {
    if (raw.includes('filter=')) admit?.()
    const { request, plan } = planned(resource, () => parseListRequest(raw, source))
    const { page } = request
    const filterKey = filterKeyOf(request)
    const listHash = hashOf(`${resource.name} ${plan.limit} ${namesOf(plan.fields)} ${filterKey}`)
    const pageQuery = pageQueryOf(request, plan)
    return { plan, page, filterKey, listHash, requestHash: pageHash(page, listHash), pageQuery }
  })
}

function planned(resource: Resource, parse: () => ListRequest) {
  return withAcceptedSuggestions(resource, () => {
    const request = parse()
    return { request, plan: planList(resource, request) }
  })
}

/** No filter begins with a digit or a hyphen, so a window of ids is unambiguous. */
function filterKeyOf({ ids: { after_id, max_id }, filter }: ListRequest): string {
  const text = filter === undefined ? '' : print(filter)
  return after_id === undefined && max_id === undefined ? text : `${after_id ?? ''}-${max_id ?? ''} ${text}`
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
  const isWindow = Object.keys(request.ids).length > 0
  return {
    plan,
    filterKey,
    feedFilter: isWindow ? undefined : filterKey,
    requestHash: hashOf(`${resource.name} ${format} ${namesOf(plan.fields)} ${filterKey}`),
  }
}

export function recordQuery(resource: Resource, raw: string): RecordQuery {
  return cached(recordQueries, `${resource.name} ${raw}`, () => {
    const fields = withAcceptedSuggestions(resource, () =>
      planRecordFields(resource, parseRecordRequest(raw)),
    )
    return { fields, requestHash: hashOf(`${resource.name} ${namesOf(fields)}`) }
  })
}

/** 96 bits: short enough for an ETag, and long enough that collisions are improbable. */
function hashOf(key: string): string {
  return hash('sha256', key, 'base64url').slice(0, 16)
}

function cached<Query extends object>(
  cache: LRUCache<string, Query>,
  text: string,
  create: () => Query,
): Query {
  const existing = cache.get(text)
  if (existing !== undefined) return existing
  const query = create()
  if (text.length <= limits.planTextCharactersMax && admission.add(text)) cache.set(text, query)
  return query
}

function namesOf(fields: readonly Field[]): string {
  return fields.map((field) => field.name).join(',')
}

/**
 * In canonical form, as the requestHash: requests for the same list share one response however they are written, so its
 * links must not depend on how the first request was written.
 */
export function pageQueryOf(
  { filter, ids, limit, chosen }: ListRequest,
  { resource, fields }: ListPlan<Collection>,
): [string, string] {
  const parameters = Object.entries({ ...ids, ...chosen })
  const parts = [...parameters.map(([name, value]) => `${name}=${value}`), 'page=']
  if (filter !== undefined) parts.unshift(`filter=${encodeURIComponent(print(filter))}`)
  const names = namesOf(fields)
  if (names !== namesOf(resource.fields)) parts.unshift(`fields=${names}`)
  return [parts.join('&'), `&limit=${limit}`]
}
