import { hash } from 'node:crypto'
import { print } from '@quartermaster/filter'
import { LRUCache } from 'lru-cache'
import type { Collection } from '../catalog/collection.ts'
import type { Field } from '../catalog/field.ts'
import type { Resource } from '../catalog/resources.ts'
import { limits } from '../limits.ts'
import {
  type ListRequest,
  type ListSource,
  parseExportRequest,
  parseListRequest,
  parseRecordRequest,
} from '../query/list-request.ts'
import { type ListPlan, planList, planRecordFields } from '../query/plan.ts'
import type { ExportFormat } from '../query/sql/export-statement.ts'
import { AdmissionFilter } from './admission-filter.ts'

/** A list as it was asked for and as it is understood, with the names under which things about it are remembered. */
export interface ListQuery {
  readonly plan: ListPlan
  readonly page: number
  /** The window of ids and the filter in their one canonical form; empty for neither. */
  readonly filterKey: string
  /** The page, and all else in its one canonical form, hashed: two requests with the same requestHash have the same answer. */
  readonly requestHash: string
  /** The query of the same list in a URL, before and after the number of a page. */
  readonly pageQuery: readonly [string, string]
}

interface CachedListQuery extends ListQuery {
  /** The same for all pages. */
  readonly listHash: string
}

export type ExportQuery = Pick<ListQuery, 'plan' | 'filterKey' | 'requestHash'>

export interface RecordQuery {
  readonly fields: readonly Field[]
  /** The fields in one canonical form, short enough for an ETag. */
  readonly requestHash: string
}

/**
 * Requests come again and again, to the letter: what was understood twice need not be understood again. Those that come
 * once would only fill the old part of the heap, which takes a long breath to clear. Of a list the first page is kept;
 * another page of the same text takes over all but the number.
 */
const seen = new AdmissionFilter(limits.planAdmissionSlots)
const lists = new LRUCache<string, CachedListQuery>({ max: limits.plansCached })
const ones = new LRUCache<string, RecordQuery>({ max: limits.plansCached })

export function listQuery(resource: Resource, raw: string, source: ListSource): ListQuery {
  const number = raw.includes('page=') ? plainPage.exec(raw)?.[2] : undefined
  if (number === undefined) return firstPage(resource, raw, source)
  const first = firstPage(resource, raw.replace(plainPage, '$1page=1'), source)
  const page = Number(number)
  return page === first.page ? first : { ...first, page, requestHash: pageHash(page, first.listHash) }
}

/** A page whose number is as it should be. All others are for the parser to judge. */
const plainPage = /(^|&)page=([1-9]\d{0,11})(?=&|$)/

function firstPage(resource: Resource, raw: string, source: ListSource): CachedListQuery {
  return kept(lists, `${resource.name} ${source} ${raw}`, () => {
    const request = parseListRequest(raw, source)
    const { page } = request
    const plan = planList(resource, request)
    const filterKey = filterKeyOf(request)
    const listHash = hashOf(`${resource.name} ${plan.limit} ${namesOf(plan.fields)} ${filterKey}`)
    const pageQuery = pageQueryOf(request, plan)
    return { plan, page, filterKey, listHash, requestHash: pageHash(page, listHash), pageQuery }
  })
}

/** No filter begins with a digit or a hyphen, so a window cannot be taken for a part of one. */
function filterKeyOf({ ids: { after_id, max_id }, filter }: ListRequest): string {
  const text = filter === undefined ? '' : print(filter)
  return after_id === undefined && max_id === undefined ? text : `${after_id ?? ''}-${max_id ?? ''} ${text}`
}

function pageHash(page: number, listHash: string): string {
  return `${page}-${listHash}`
}

/** An export is long work, and seldom asked for: it need not be remembered. */
export function exportQuery(
  resource: Resource,
  raw: string,
  source: ListSource,
  format: ExportFormat,
): ExportQuery {
  const request = parseExportRequest(raw, source)
  const plan = planList(resource, request)
  const filterKey = filterKeyOf(request)
  return {
    plan,
    filterKey,
    requestHash: hashOf(`${resource.name} ${format} ${namesOf(plan.fields)} ${filterKey}`),
  }
}

export function recordQuery(resource: Resource, raw: string): RecordQuery {
  return kept(ones, `${resource.name} ${raw}`, () => {
    const fields = planRecordFields(resource, parseRecordRequest(raw))
    return { fields, requestHash: hashOf(`${resource.name} ${namesOf(fields)}`) }
  })
}

/** 96 bits: short enough for an ETag, and more than anybody can find two of a kind in. */
function hashOf(key: string): string {
  return hash('sha256', key, 'base64url').slice(0, 16)
}

function kept<T extends object>(cache: LRUCache<string, T>, text: string, make: () => T): T {
  const found = cache.get(text)
  if (found !== undefined) return found
  const made = make()
  if (text.length <= limits.planTextCharactersMax && seen.note(text)) cache.set(text, made)
  return made
}

function namesOf(fields: readonly Field[]): string {
  return fields.map((field) => field.name).join(',')
}

/**
 * In its one canonical form, as the requestHash: an answer is shared by all who ask for the same list, each in other words, and
 * its links must not repeat the words of the first.
 */
export function pageQueryOf(
  { filter, ids, limit, chosen }: ListRequest,
  { resource, fields }: ListPlan<Collection>,
): [string, string] {
  const others = Object.entries({ ...ids, ...chosen })
  const parts = [...others.map(([name, value]) => `${name}=${value}`), 'page=']
  if (filter !== undefined) parts.unshift(`filter=${encodeURIComponent(print(filter))}`)
  const names = namesOf(fields)
  if (names !== namesOf(resource.fields)) parts.unshift(`fields=${names}`)
  return [parts.join('&'), `&limit=${limit}`]
}
