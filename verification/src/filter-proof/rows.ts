import type { Random } from '../random.ts'
import { decimal, plainDecimal } from './decimal.ts'
import { markers } from './markers.ts'
import type { Field, PlainRecord, Resource } from './schema.ts'
import { isoText } from './timestamp.ts'

// Texts with a meaning in LIKE, SQL, filters, URLs, JSON or CSV, and characters with unusual case mappings.
const fragments: readonly string[] = [
  ['bolt', 'Bolt', 'BOLT', 'nut', 'M8', 'a', 'A', 'ab', 'zqx', 'ZQX', 'null', 'NULL', 'true', '0', '12.5'],
  ['%', '_', '\\', '%%', '100%', 'a_b', '\\%', '\\_', '\\\\', '*', '?', '^', '$', '$1', '$$', ';--', '/*'],
  ['"', "'", "''", '""', '`', '&', '|', '[', ']', '(', ')', ',', '!', '=', '!=', '>', '>=', '<', '<='],
  ['&&', '||', '&limit=1', '#', '+', '%20', '%41', '%2B', ' ', '  ', '\n', '\r\n', '\t', '00417'],
  ['\u00a0', '\u2003', '\u200b', '\ufeff', '\u2028', '\ue000', '\x7f', '\x01', '\u{10ffff}'],
  ['Größe', 'GRÖSSE', 'Straße', 'STRAẞE', 'ﬁ', 'ŉ', 'é', 'É', 'e\u0301', 'E\u0301', 'İ', 'ı', 'I', 'i'],
  ['i\u0307', 'Σ', 'σ', 'ς', 'ΟΔΟΣ', 'οδος', 'οδοσ', 'Ά', 'ά', 'Жук', 'ЖУК', 'жук', 'Ё', 'ё', 'Ǆ', 'ǅ'],
  ['ǆ', '\u212a', 'k', 'K', '東京', '日本', '中', '😀', '👩‍👩‍👧', '🇩🇪', '𝔘', '𐐀', '𐐨', 'ﷺ', '\u0644\u0627'],
].flat()

/** Rows with ascending ids with gaps. The last product has the largest id that an import may bring. */
export function randomRows(random: Random, resource: Resource, count: number): PlainRecord[] {
  let id = 0
  return Array.from({ length: count }, (_, index) => {
    const last = index === count - 1 && resource.name === 'product'
    id = last ? 2 ** 32 - 1 : id + random.integer(1, 3)
    const entries = resource.fields.map((field) => [
      field.name,
      field.name === 'id' ? String(id) : randomValue(random, field),
    ])
    const row: PlainRecord = Object.fromEntries(entries)
    return row
  })
}

export function randomValue(random: Random, field: Field): string | boolean | null {
  if (field.nullable && random.chance(0.25)) return null
  switch (field.type) {
    case 'text':
      return randomText(random, field.max ?? 100)
    case 'boolean':
      return random.chance(0.5)
    case 'integer':
      return randomInteger(random)
    case 'decimal':
      return randomDecimal(random)
    case 'timestamp':
      return isoText(randomTimestampMs(random))
    default:
      return field.type satisfies never
  }
}

/** Mostly short, so that texts repeat and share parts. */
export function randomText(random: Random, max: number): string {
  const style = random.next()
  if (style < 0.04) return ''
  if (style < 0.06) return shortened(random.pick(['x', 'é', '😀', '%', '\\', '"', ' ']).repeat(max), max)
  const count = random.pick([1, 1, 1, 2, 2, 3, 4, 8])
  const joint = random.chance(0.5) ? '' : ' '
  const text = Array.from({ length: count }, () => random.pick(fragments)).join(joint)
  return shortened(random.chance(0.5) ? text : `${markers.text}${text}`, max)
}

/** Truncates by characters, so that no surrogate pair is split. */
function shortened(text: string, max: number): string {
  return Array.from(text).slice(0, max).join('')
}

const integers = [
  '0',
  '1',
  '-1',
  '2',
  '3',
  '4',
  '5',
  '6',
  '7',
  '8',
  '9',
  '10',
  '100',
  '1042',
  '2147483648',
  `${markers.number}50`,
]
const greatest = String(Number.MAX_SAFE_INTEGER)

export function randomInteger(random: Random): string {
  const style = random.next()
  if (style < 0.75) return random.pick(integers)
  if (style < 0.85)
    return random.pick([greatest, `-${greatest}`, '9007199254740990', '-2147483649', '4294967296'])
  return String(random.integer(-1_000_000, 1_000_000))
}

const nines = `${'9'.repeat(24)}.${'9'.repeat(12)}`
const decimals = [
  [
    '0',
    '1',
    '-1',
    '0.1',
    '0.2',
    '0.3',
    '0.300000000001',
    '12.5',
    '12.500000000001',
    '-12.5',
    '310',
    '99.99',
    `${markers.number}50.5`,
  ],
  ['0.000000000001', '-0.000000000001', '0.999999999999', nines, `-${nines}`, `1${'0'.repeat(23)}`],
  ['9007199254740992', '9007199254740993', '9007199254740992.5', '123456789012345678901234.000000000001'],
].flat()

export function randomDecimal(random: Random): string {
  const style = random.next()
  if (style < 0.5) return random.pick(decimals)
  const sign = random.chance(0.3) ? '-' : ''
  const integer = style < 0.8 ? random.integer(0, 3) : random.integer(4, 24)
  const fraction = style < 0.8 ? random.integer(0, 2) : random.integer(0, 12)
  const digits = `${sign}${random.digits(integer).replace(/^0+/, '') || '0'}`
  return plainDecimal(decimal(fraction === 0 ? digits : `${digits}.${random.digits(fraction)}`))
}

const yearOne = -62_135_596_800_000n
const yearTenThousand = 253_402_300_800_000n
const timestamps: readonly bigint[] = [
  [yearOne, yearOne + 1n, yearTenThousand - 1n, yearTenThousand - 1000n, 0n, -1n, 1n, 999n, 1000n, -1000n],
  // The leap days of 2000 and 2024 and their ends; the end of February 1900, which had no leap day; a change to summer time.
  [951_782_400_000n, 951_868_799_999n, 951_868_800_000n, 1_709_164_800_000n, 1_709_251_199_999n],
  [-2_203_977_600_000n, -2_203_891_200_001n, -2_203_891_200_000n, 1_711_846_800_000n, 1_711_850_400_000n],
  // 7731-07-15T12:30:45.731Z, which has the marker.
  [181_816_489_845_731n],
  // 2026-11-14T09:30:00.000Z and its neighbours.
  [1_794_648_600_000n, 1_794_648_600_001n, 1_794_648_599_999n, 1_794_648_600_999n, 1_794_648_601_000n],
].flat()

export function randomTimestampMs(random: Random): bigint {
  const style = random.next()
  if (style < 0.5) return random.pick(timestamps)
  if (style < 0.8) return 1_794_614_400_000n + BigInt(random.integer(0, 86_399_999))
  const range = Number(yearTenThousand - yearOne)
  return yearOne + BigInt(Math.floor(random.next() * range))
}
