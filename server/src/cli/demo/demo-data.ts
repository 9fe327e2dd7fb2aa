import type { ResourceName } from '../../catalog/resources.ts'

/** A record as `importRecords` accepts it. Decimals are strings, so that they are exact. */
export type DemoRecord = Readonly<Record<string, string | number | boolean | null>>

/** The end of the five years of dates. Fixed, so that the same seed generates the same records on any day. */
const endMs = Date.UTC(2026, 10, 14)
const fiveYearsMs = 5 * 365 * 24 * 3_600_000

const goods = [
  'Hex bolt',
  'Socket screw',
  'Wood screw',
  'Lock nut',
  'Wing nut',
  'Flat washer',
  'Spring washer',
  'Threaded rod',
  'Blind rivet',
  'Cotter pin',
  'Ball bearing',
  'Roller bearing',
  'Shaft seal',
  'O-ring',
  'Gasket',
  'Hose clamp',
  'Pipe elbow',
  'Ball valve',
  'Check valve',
  'Pressure gauge',
  'Cable gland',
  'Terminal block',
  'Relay, 2-pole',
  'Contactor',
  'Proximity switch',
  'Servo motor',
  'Gear reducer',
  'V-belt',
  'Timing belt',
  'Chain link',
  'Eye bolt',
  'Shackle',
  'Wire rope',
  'Castor',
  'Drill bit',
  'End mill',
  'Cutting disc',
  'Grease & oil kit',
  'Safety goggles',
  'Führungsschiene',
] as const
const sizes = [
  'M3',
  'M4',
  'M5',
  'M6',
  'M8',
  'M10',
  'M12',
  'M16',
  'M20',
  '½"',
  '¾"',
  '1"',
  '1¼"',
  '2"',
  'Ø 8',
  'Ø 25',
] as const
const lengths = ['12', '16', '20', '25', '30', '40', '50', '60', '80', '100', '120', '160', '200'] as const
const finishes = [
  'zinc',
  'stainless A2',
  'stainless A4',
  'galvanised',
  'black oxide',
  'brass',
  'nylon',
  'EPDM',
  'PTFE',
  'hardened, 8.8',
  'hardened, 10.9',
  'chrome-plated',
  'powder-coated "RAL 7016"',
  'untreated',
] as const
const packs = ['', '', '', '', ', box of 50', ', box of 100', ', pack of 10', ' (pair)', ', 5 m'] as const
const firstNames = [
  'Ada',
  'Björn',
  'Chloé',
  'Dmitri',
  'Elif',
  'Fatima',
  'Grace',
  'Hiroshi',
  'Inés',
  'Jürgen',
  'Keira',
  'Łukasz',
  'Mei',
  'Noor',
  'Olu',
  'Priya',
] as const
const lastNames = [
  'Åkesson',
  'Brandt',
  'Costa',
  'Dubois',
  'Eriksen',
  "O'Brien",
  'García',
  'Haddad',
  'Ivanova',
  'Jansen',
  'Kowalski',
  'Lindqvist',
  'Müller',
  'Nakamura',
  'Okafor',
  'Şahin',
] as const
const brands = [
  'Nordwind',
  'Quayside',
  'Alpine',
  'Delta',
  'Meridian',
  'Harbour',
  'Città',
  'Rhein',
  'Baltic',
  'Summit',
  'Río',
  'Granite',
] as const
const trades = [
  'Logistics',
  'Tooling',
  'Fasteners',
  'Hydraulics',
  'Supply & Trade',
  'Engineering',
  'Metallwaren',
  'Imports',
  'Marine, Rail',
  'Instruments',
] as const
const forms = ['Ltd', 'GmbH', 'S.A.', 'AB', 'LLC', 'S.p.A.', 'B.V.', '& Sons'] as const

export function* demoProducts(count: number, seed = 1): Generator<DemoRecord> {
  const random = randomFrom(seed)
  for (let id = 1; id <= count; id += 1) {
    const kind = random.below(goods.length)
    const size = random.of(sizes)
    const length = random.of(lengths)
    yield {
      id,
      name: `${goods[kind]} ${size} × ${length}, ${random.of(finishes)}${random.of(packs)}`,
      default_code: random.chance(0.06)
        ? null
        : `${code(goods[kind] ?? '')}-${length.padStart(3, '0')}-${id}`,
      list_price: decimal(1 + Math.floor(random.next() ** 3 * 250_000), 2),
      qty_available: random.chance(0.1) ? decimal(random.below(100_000), 3) : String(random.below(5_000)),
      active: !random.chance(0.05),
      categ_id: random.chance(0.02) ? null : 1 + kind,
      product_tmpl_id: random.chance(0.1) ? null : 1_000 + Math.ceil(id / 4),
      is_rsd_product: random.chance(0.3) ? null : random.chance(0.2),
      ...dates(random),
    }
  }
}

export function* demoPartners(count: number, seed = 1): Generator<DemoRecord> {
  const random = randomFrom(seed + 1)
  for (let id = 1; id <= count; id += 1) {
    const isCompany = random.chance(0.4)
    const first = random.of(firstNames)
    const last = random.of(lastNames)
    const brand = random.of(brands)
    const trade = random.of(trades)
    const mailbox = isCompany ? `orders.${id}@${plain(brand)}` : `${plain(first)}.${plain(last)}.${id}@mail`
    yield {
      id,
      name: isCompany ? `${brand} ${trade} ${random.of(forms)}` : `${first} ${last}`,
      is_company: isCompany,
      is_patient: !isCompany && random.chance(0.1),
      is_customer: random.chance(0.7),
      is_vendor: isCompany && random.chance(0.3),
      is_employee: !isCompany && random.chance(0.05),
      email: random.chance(0.15) ? null : `${mailbox}.example`,
      phone: random.chance(0.2)
        ? null
        : `+${30 + random.below(60)} ${10 + random.below(90)} 555 ${digits(random, 4)}`,
      active: !random.chance(0.05),
      ...dates(random),
    }
  }
}

export function* demoCompanies(count: number, seed = 1): Generator<DemoRecord> {
  const random = randomFrom(seed + 2)
  for (let id = 1; id <= count; id += 1) {
    const brand = random.of(brands)
    const trade = random.of(trades)
    yield {
      id,
      name: `${brand} ${trade} ${random.of(forms)}`,
      company_code: random.chance(0.1) ? null : `${code(brand)}${code(trade)}${String(id).padStart(3, '0')}`,
      branch_user: digits(random, 5).replace(/^./, '0'),
      ...dates(random),
    }
  }
}

export const demoRecords: Record<ResourceName, (count: number, seed?: number) => Generator<DemoRecord>> = {
  product: demoProducts,
  partner: demoPartners,
  company: demoCompanies,
}

interface Random {
  next(): number
  below(bound: number): number
  chance(probability: number): boolean
  of<T>(items: readonly [T, ...T[]]): T
}

/** mulberry32: a small generator with the same sequence on every machine. */
function randomFrom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (bound: number) => Math.floor(next() * bound)
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    of: (items) => items[below(items.length)] ?? items[0],
  }
}

function dates(random: Random): { create_date: string; write_date: string } {
  const created = endMs - Math.floor(random.next() * fiveYearsMs)
  const written = random.chance(0.3) ? created : created + Math.floor(random.next() * (endMs - created))
  return { create_date: new Date(created).toISOString(), write_date: new Date(written).toISOString() }
}

/** `units` of 10^-`fractionDigits`, as the shortest decimal. */
function decimal(units: number, fractionDigits: number): string {
  return String(units / 10 ** fractionDigits)
}

function digits(random: Random, count: number): string {
  return String(random.below(10 ** count)).padStart(count, '0')
}

/** A code of the first three consonants: `Hex bolt` is HXB. */
function code(words: string): string {
  return plain(words)
    .replace(/[aeiou]/g, '')
    .slice(0, 3)
    .toUpperCase()
}

function plain(words: string): string {
  return words
    .replace(/[Łł]/g, 'l')
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^a-z]/g, '')
}
