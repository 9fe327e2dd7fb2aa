import type { Condition, Filter, Operator, Value } from '@quartermaster/filter'
import type { Random } from '../random.ts'
import { decimal, plainDecimal } from './decimal.ts'
import { randomDecimal, randomInteger, randomText, randomValue } from './rows.ts'
import type { Field, FieldType, PlainRecord, Resource } from './schema.ts'
import { isoText, timestampMs, two } from './timestamp.ts'

const noSpan = { offset: 0, length: 0 }

export const textValue = (text: string): Value => ({ kind: 'text', text, ...noSpan })
export const nullValue: Value = { kind: 'null', ...noSpan }

export function condition(field: string, operator: Operator, values: readonly Value[]): Condition {
  return {
    kind: 'condition',
    field: { text: field, ...noSpan },
    operator,
    values,
    operatorSpan: noSpan,
    ...noSpan,
  }
}

export function joined(kind: 'and' | 'or', terms: readonly Filter[]): Filter {
  return { kind, terms, ...noSpan }
}

const equality: readonly Operator[] = ['=', '!=', '[]', '![]']
const order: readonly Operator[] = ['>', '>=', '<', '<=']
const operatorsOf: Record<FieldType, readonly Operator[]> = {
  text: [...equality, '*', '!*', '*', '!*'],
  integer: [...equality, ...order],
  decimal: [...equality, ...order],
  timestamp: [...equality, ...order],
  boolean: equality,
}

/** What remains of the bounds of a filter. */
interface Budget {
  conditions: number
  listValues: number
}

/** A valid filter with values of the rows or close to them, so that it matches some rows and not others. */
export function randomFilter(random: Random, resource: Resource, rows: readonly PlainRecord[]): Filter {
  const budget = { conditions: 200, listValues: 1000 }
  const size = random.next()
  if (size < 0.45) return randomCondition(random, resource, rows, budget)
  const conditions =
    size < 0.85 ? random.integer(2, 4) : size < 0.985 ? random.integer(5, 12) : random.integer(13, 200)
  return randomTree(random, conditions, 8, () => randomCondition(random, resource, rows, budget))
}

/** Splits the conditions into random groups. An `and` within an `and` is written in parentheses and stays a separate node. */
export function randomTree(random: Random, conditions: number, depth: number, leaf: () => Filter): Filter {
  if (conditions === 1) return leaf()
  const kind = random.pick(['and', 'or'] as const)
  if (depth === 0) return joined(kind, Array.from({ length: conditions }, leaf))
  const terms: Filter[] = []
  for (let left = conditions; left > 0; ) {
    const most = terms.length === 0 ? left - 1 : left
    const share = random.chance(0.6) ? 1 : random.integer(1, most)
    terms.push(randomTree(random, share, depth - 1, leaf))
    left -= share
  }
  return joined(kind, terms)
}

function randomCondition(
  random: Random,
  resource: Resource,
  rows: readonly PlainRecord[],
  budget: Budget,
): Condition {
  const field = random.pick(resource.fields)
  const operator = random.pick(operatorsOf[field.type])
  const isList = operator === '[]' || operator === '![]'
  const count = isList ? listLength(random, budget) : 1
  budget.conditions -= 1
  if (isList) budget.listValues -= count
  const values = Array.from({ length: count }, () => randomOperand(random, field, operator, rows))
  return condition(field.name, operator, values)
}

/** Leaves at least one value for every remaining condition. */
function listLength(random: Random, { conditions, listValues }: Budget): number {
  const size = random.next()
  const wanted =
    size < 0.8 ? random.integer(1, 5) : size < 0.99 ? random.integer(6, 20) : random.integer(21, 1000)
  return Math.max(1, Math.min(wanted, listValues - conditions))
}

function randomOperand(
  random: Random,
  field: Field,
  operator: Operator,
  rows: readonly PlainRecord[],
): Value {
  const takesNull = equality.includes(operator)
  if (takesNull && random.chance(field.nullable ? 0.12 : 0.02)) return nullValue
  const found = random.chance(0.8) ? random.pick(rows)[field.name] : randomValue(random, field)
  const value = found ?? randomValue(random, { ...field, nullable: false })
  if (typeof value === 'boolean') return textValue(String(value))
  const text = value ?? ''
  switch (field.type) {
    case 'text':
      return textValue(operator === '*' || operator === '!*' ? part(random, text) : likeText(random, text))
    case 'integer':
      return textValue(nearInteger(random, text))
    case 'decimal':
      return textValue(decimalLiteral(random, nearDecimal(random, text)))
    case 'timestamp':
      return textValue(timeLiteral(random, timestampMs(text) + random.pick([0n, 0n, 0n, 1n, -1n, 1000n])))
    case 'boolean':
      return textValue(random.pick(['true', 'false']))
    default:
      return field.type satisfies never
  }
}

/** A non-empty text that a row probably contains, in the original, lower or upper case. */
function part(random: Random, text: string): string {
  const characters = Array.from(text === '' || random.chance(0.1) ? randomText(random, 12) : text)
  const start = random.integer(0, Math.max(0, characters.length - 1))
  const wanted = characters.slice(start, start + random.integer(1, 6)).join('') || 'a'
  const style = random.next()
  if (style < 0.6) return wanted
  return style < 0.8 ? wanted.toLowerCase() : wanted.toUpperCase()
}

function likeText(random: Random, text: string): string {
  const style = random.next()
  if (style < 0.8) return text
  if (style < 0.85) return text.toUpperCase()
  if (style < 0.9) return `${text} `
  return Array.from(text).slice(0, -1).join('')
}

function nearInteger(random: Random, text: string): string {
  if (random.chance(0.1)) return randomInteger(random)
  const near = BigInt(text) + random.pick([0n, 0n, 0n, 1n, -1n])
  const greatest = BigInt(Number.MAX_SAFE_INTEGER)
  return String(near > greatest || near < -greatest ? text : near)
}

/** The value itself, its nearest neighbours at 12 or more decimal places, or a value outside the range of stored ones. */
function nearDecimal(random: Random, text: string): string {
  const style = random.next()
  if (style < 0.6) return text
  if (style < 0.7) return randomDecimal(random)
  if (style < 0.75)
    return random.pick(['1e24', '-1e24', '1e300', '-1e300', '1e-300', '-1e-300', '1e-13', '-0'])
  const scale = random.pick([12, 12, 13, 20])
  const { digits, scale: own } = decimal(text)
  const near = digits * 10n ** BigInt(Math.max(0, scale - own)) + random.pick([1n, -1n])
  return plainDecimal({ digits: near, scale: Math.max(scale, own) })
}

/** The same number in one of its JSON notations. */
function decimalLiteral(random: Random, text: string): string {
  const style = random.next()
  if (style < 0.6 || text.includes('e')) return text
  if (style < 0.75) return text.includes('.') ? `${text}000` : `${text}.00`
  const { digits, scale } = decimal(text)
  const shift = random.integer(0, 20)
  const e = random.pick(['e', 'E'])
  if (style < 0.9) return `${digits}${e}${-scale}`
  return `${plainDecimal({ digits, scale: scale + shift })}${e}${random.chance(0.5) ? '+' : ''}${shift}`
}

const firstMs = timestampMs('0001-01-01T00:00:00.000Z')
const lastMs = timestampMs('9999-12-31T23:59:59.999Z')

/** A literal whose span contains the time: a day, a minute, a second, or down to a millisecond, in any time zone. */
function timeLiteral(random: Random, near: bigint): string {
  const at = near < firstMs ? firstMs : near > lastMs ? lastMs : near
  const length = random.pick([10, 10, 16, 19, 19, 21, 22, 23, 23, 23, 23])
  if (length === 10) return isoText(at).slice(0, length)
  const wanted = random.pick([0, 0, 0, 60, -60, 330, -570, 840, -720, 1])
  const local = at + BigInt(wanted) * 60_000n
  const fits = local >= firstMs && local <= lastMs
  const text = isoText(fits ? local : at).slice(0, length)
  return `${text}${fits && wanted !== 0 ? zoneText(wanted) : random.pick(['', 'Z', 'Z', '+00:00'])}`
}

function zoneText(minutes: number): string {
  const size = Math.abs(minutes)
  return `${minutes < 0 ? '-' : '+'}${two(size / 60)}:${two(size % 60)}`
}

const invalid: Record<FieldType, readonly (readonly [Operator, string])[]> = {
  text: [
    ['*', ''],
    ['>', 'a'],
    ['<=', '5'],
    ['=', 'nul\0'],
  ],
  integer: [
    ['=', 'abc'],
    ['=', '1.5'],
    ['[]', ''],
    ['>', '0x10'],
    ['=', 'true'],
    ['*', '1'],
  ],
  decimal: [
    ['=', '1.'],
    ['>', '.5'],
    ['<', 'NaN'],
    ['>=', 'Infinity'],
    ['=', '01'],
    ['=', '1e'],
    ['!*', '1'],
    ['=', '1 or 1=1'],
  ],
  boolean: [
    ['=', 'maybe'],
    ['=', 'TRUE'],
    ['>', 'false'],
    ['*', 'true'],
  ],
  timestamp: [
    ['=', 'yesterday'],
    ['>', '2023-02-29'],
    ['<', '2023-13-01'],
    ['=', '1900-02-29T00:00:00Z'],
    ['=', '2023-01-01T25:00:00Z'],
    ['*', '2023'],
    ['=', 'now()'],
  ],
}

/** A filter with one condition that the service must reject. */
export function invalidFilter(random: Random, resource: Resource, rows: readonly PlainRecord[]): Filter {
  const field = random.pick(resource.fields)
  const [operator, text] = random.pick(invalid[field.type])
  const name = random.chance(0.2) ? `${field.name}x` : field.name
  const bad = condition(name, operator, [textValue(text)])
  if (random.chance(0.5)) return bad
  return joined(random.pick(['and', 'or'] as const), [randomFilter(random, resource, rows), bad])
}
