import { type Condition, type Filter, FilterError, parse } from '@quartermaster/filter'
import { type CollectionName, collections } from '../../api/catalog.ts'
import type { Row } from '../../api/read.ts'
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
      title: `Rejected with ${status} ${code}`,
      lines: [
        ...lines.filter((line) => line !== ''),
        ...(ms >= slowMs ? [`The response took ${took}.`] : []),
      ],
    }
  }
  if (row['cached'] === true) {
    const what = status === 304 ? "the client's copy was still current (304)" : 'the response was cached'
    const lines = [`Nothing was read from the database: ${what}.`]
    if (ms >= slowMs)
      lines.push(`It still took ${took}: the process or the verification of the key was busy.`)
    return {
      tone: ms >= slowMs ? 'warn' : 'ok',
      title: `${ms >= slowMs ? 'Slow' : 'Fast'}: ${took}, cached`,
      lines,
    }
  }
  const read = readText(row)
  if (ms < slowMs) {
    return {
      tone: 'ok',
      title: `Not slow: ${took}`,
      lines: [`${read} Requests below ${slowMs} ms are usual.`],
    }
  }
  const found = causes(row)
  const lines = found.length > 0 ? found : [busyText]
  return { tone: 'warn', title: `Slow: ${took}`, lines: [read, ...lines] }
}

const busyText =
  'Nothing in the request itself explains it. The service or its database was busy, or other long queries of the account ran at the same time: 2 of them run, and more wait.'

/** What the sender of the request can do; the advice of the console is about its own requests. */
function adviceFor(code: string): string | undefined {
  if (code === 'request_invalid') return 'Open it in the console to see the error at its position.'
  if (code === 'client_disconnected')
    return 'The client closed the connection before the response was sent. Its timeout may be too short.'
  if (code === 'scope_missing') return 'The key lacks the scope. Create a key that has it.'
  return adviceOf(code)
}

function readText(row: Row): string {
  const records = Number(row['records'])
  const bytes = bytesText(Number(row['bytes']))
  if (row['method'] === 'POST') return 'It waited until the change was committed.'
  return `${grouped(records)} ${records === 1 ? 'record was' : 'records were'} read, ${bytes} sent.`
}

function causes(row: Row): string[] {
  const records = Number(row['records'])
  const parameters = parametersOf(row)
  const isManage = String(row['path'] ?? '').startsWith('/manage/')
  const found: string[] = []
  if (records > pageRecordsMax)
    found.push(`It is an export of ${grouped(records)} records. An export takes as long as the client reads.`)
  else if (records > manyRecords || Number(row['bytes']) > largeBytes)
    found.push('The response is large. Request fewer fields, or a smaller limit.')
  const limit = Number(parameters.get('limit') ?? 10)
  const skipped = (Number(parameters.get('page') ?? 1) - 1) * limit
  if (skipped >= deepRecords)
    found.push(
      `It is a deep page: ${grouped(skipped)} records come before it. To read everything, page with after_id, or use an export.`,
    )
  const filter = row['filter']
  if (typeof filter !== 'string') return found
  if (isManage) {
    const isShort = conditionsOf(filter).some(({ field }) => field.text === 'at')
    const advice = isShort ? '' : ' Add a condition on at to shorten the range.'
    found.push(`The lists for administrators have no index for filters: every entry is compared.${advice}`)
    return found
  }
  found.push(...filterCauses(filter))
  return found
}

function filterCauses(filter: string): string[] {
  const conditions = conditionsOf(filter)
  const texts = [...new Set(conditions.flatMap((condition) => unindexed(condition) ?? []))]
  const counted =
    'The total of a filter is counted once, and again after the data changed. The next request with this filter is faster.'
  return conditions.length === 0 ? texts : [...texts, counted]
}

/** Why a condition cannot use an index. */
function unindexed({ field, operator, values }: Condition): string | undefined {
  const value = values[0]
  if (operator === '*' && value?.kind === 'text' && value.text.length < searchCharactersMin)
    return `The search for ${field.text}*${value.text} has fewer than ${searchCharactersMin} characters, which the index of texts needs: every record is compared.`
  if (operator === '!*') return `The condition ${field.text}!* cannot use an index: every record is compared.`
  if (operator === '![]' && values.length > excludedValuesMax)
    return `The condition ${field.text}![…] excludes more than ${excludedValuesMax} values: every record is compared.`
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
