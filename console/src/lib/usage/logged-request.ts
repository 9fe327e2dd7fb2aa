import { type Condition, type Filter, FilterError, parse } from '@quartermaster/filter'
import { type CollectionName, collections } from '../../api/catalog.ts'
import type { Row } from '../../api/read.ts'
import { t } from '../../texts/texts.ts'
import { adviceOf } from '../advice.ts'
import { bytesText, grouped, msText } from '../format.ts'
import { isoTime } from './usage-range.ts'

/** One request, from the request log. */

const pages: readonly (readonly [CollectionName, string])[] = [
  ['product', '/products'],
  ['partner', '/partners'],
  ['company', '/companies'],
  ['key', '/keys'],
  ['audit', '/audit'],
  ['request', '/requests'],
]

/** The page that shows the list or record of a logged request; undefined if there is none. */
export function browseTarget(
  row: Row,
): { readonly to: string; readonly search: Record<string, string> } | undefined {
  const path = String(row['path'] ?? '')
  for (const [name, to] of pages) {
    const base = collections[name].path
    if (path !== base && !path.startsWith(`${base}/`)) continue
    const search: Record<string, string> = {}
    for (const [key, value] of parametersOf(row)) {
      if (['fields', 'page', 'limit'].includes(key)) search[key] = value
    }
    if (typeof row['filter'] === 'string') search['filter'] = row['filter']
    const [id = ''] = path.slice(base.length + 1).split('/')
    if (id !== '') search['record'] = id
    return { to, search }
  }
  return undefined
}

/** The filter of the log for the requests at the same time: one of them may have used the CPU. */
export function nearbyFilter(row: Row): string {
  const atMs = Date.parse(String(row['at']))
  const endMs = atMs + Number(row['duration_ms'])
  return `at>=${isoTime(atMs - 2_000)}&at<=${isoTime(endMs + 2_000)}`
}

export interface Explanation {
  readonly tone: 'ok' | 'warn' | 'bad'
  readonly title: string
  /** Most important first. */
  readonly lines: readonly string[]
}

/** Milliseconds from which a request counts as slow: a person notices it. */
const slowMs = 100
/** Records before the first one of a page, from which the page counts as deep. */
const deepRecords = 10_000
const manyRecords = 250
const pageRecordsMax = 1_000
const largeBytes = 1_000_000
/** A trigram index finds texts by three characters. */
const searchCharactersMin = 3
/** More values of ![] are compared one by one. */
const excludedValuesMax = 16

/** Why a request failed, or took as long as it did, from what is logged. */
export function explanation(row: Row): Explanation {
  const ms = Number(row['duration_ms'])
  const status = Number(row['status'])
  const took = msText(ms)
  if (status >= 400) {
    const code = String(row['error_code'] ?? '')
    const lines = [String(row['error_detail'] ?? ''), adviceFor(code) ?? '']
    return {
      tone: status >= 500 ? 'bad' : 'warn',
      title: t.requests.rejected(status, code),
      lines: [...lines.filter((line) => line !== ''), ...(ms >= slowMs ? [t.requests.took(took)] : [])],
    }
  }
  if (row['cached'] === true) {
    const what = status === 304 ? t.requests.current : t.requests.cached
    const lines = [t.requests.nothingRead(what)]
    if (ms >= slowMs) lines.push(t.requests.stillTook(took))
    return {
      tone: ms >= slowMs ? 'warn' : 'ok',
      title: t.requests.cachedTitle(ms >= slowMs, took),
      lines,
    }
  }
  const read = readText(row)
  if (ms < slowMs) {
    return {
      tone: 'ok',
      title: t.requests.notSlow(took),
      lines: [t.requests.usual(read, slowMs)],
    }
  }
  const found = causes(row)
  const lines = found.length > 0 ? found : [t.requests.busy]
  return { tone: 'warn', title: t.requests.slow(took), lines: [read, ...lines] }
}

/** What the sender of the request can do; the advice of the console is about its own requests. */
function adviceFor(code: string): string | undefined {
  if (code === 'request_invalid') return t.requests.openForPosition
  if (code === 'client_disconnected') return t.requests.disconnected
  if (code === 'scope_missing') return t.requests.lacksScope
  return adviceOf(code)
}

function readText(row: Row): string {
  const records = Number(row['records'])
  const bytes = bytesText(Number(row['bytes']))
  if (row['method'] === 'POST') return t.requests.committed
  return t.requests.read(records, grouped(records), bytes)
}

function causes(row: Row): string[] {
  const records = Number(row['records'])
  const parameters = parametersOf(row)
  const isManage = String(row['path'] ?? '').startsWith('/manage/')
  const found: string[] = []
  if (records > pageRecordsMax) found.push(t.requests.export(grouped(records)))
  else if (records > manyRecords || Number(row['bytes']) > largeBytes) found.push(t.requests.large)
  const limit = Number(parameters.get('limit') ?? 10)
  const skipped = (Number(parameters.get('page') ?? 1) - 1) * limit
  if (skipped >= deepRecords) found.push(t.requests.deep(grouped(skipped)))
  const filter = row['filter']
  if (typeof filter !== 'string') return found
  if (isManage) {
    const isShort = conditionsOf(filter).some(({ field }) => field.text === 'at')
    const advice = isShort ? '' : t.requests.shorten
    found.push(t.requests.noIndex(advice))
    return found
  }
  found.push(...filterCauses(filter))
  return found
}

function filterCauses(filter: string): string[] {
  const conditions = conditionsOf(filter)
  const texts = [...new Set(conditions.flatMap((condition) => unindexed(condition) ?? []))]
  const counted = t.requests.counted
  return conditions.length === 0 ? texts : [...texts, counted]
}

/** Why a condition cannot use an index. */
function unindexed({ field, operator, values }: Condition): string | undefined {
  const value = values[0]
  if (operator === '*' && value?.kind === 'text' && value.text.length < searchCharactersMin)
    return t.requests.shortSearch(`${field.text}*${value.text}`, searchCharactersMin)
  if (operator === '!*') return t.requests.notContains(field.text)
  if (operator === '![]' && values.length > excludedValuesMax)
    return t.requests.manyExcluded(field.text, excludedValuesMax)
  return undefined
}

/** None if the filter was truncated in the log. */
function conditionsOf(filter: string): readonly Condition[] {
  try {
    return flat(parse(filter))
  } catch (error) {
    if (error instanceof FilterError) return []
    throw error
  }
}

function flat(filter: Filter): readonly Condition[] {
  return filter.kind === 'condition' ? [filter] : filter.terms.flatMap(flat)
}

function parametersOf(row: Row): ReadonlyMap<string, string> {
  const parts = String(row['query'] ?? '').split('&')
  return new Map(
    parts.flatMap((part) => {
      const at = part.indexOf('=')
      return at < 0 ? [] : [[part.slice(0, at), part.slice(at + 1)] as const]
    }),
  )
}
