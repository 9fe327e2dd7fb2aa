import { limits } from '../../../../server/src/limits/limits.ts'

/** Filters of the largest allowed size that parse. Some have unknown fields or invalid values. */
export const filters: Readonly<Record<string, string>> = {
  'conditions joined by &': repeat(limits.filterConditionsMax, (n) => `id!=${n}`, '&'),
  'conditions joined by |': repeat(limits.filterConditionsMax, (n) => `name=${n}`, '|'),
  'conditions on every type': repeat(limits.filterConditionsMax, mixed, '|'),
  'excluded integers': repeat(62, (n) => `categ_id![${repeat(16, (m) => String(n * 16 + m), ',')}]`, '&'),
  'excluded decimals': repeat(
    62,
    (n) => `list_price![${repeat(16, (m) => `${n * 16 + m}.5e-999`, ',')}]`,
    '&',
  ),
  'excluded long decimals': repeat(
    40,
    (n) =>
      `list_price![${repeat(16, (m) => `${'9'.repeat(80)}${n * 16 + m}e${m % 2 === 0 ? '' : '-'}900`, ',')}]`,
    '|',
  ),
  'excluded texts': repeat(
    62,
    (n) => `name![${repeat(16, (m) => `${'x'.repeat(50)}${n * 16 + m}`, ',')}]`,
    '&',
  ),
  'excluded dates': repeat(62, (n) => `write_date![${repeat(16, (m) => dayOf(n * 16 + m), ',')}]`, '&'),
  'one list of integers': `id[${repeat(limits.filterListValuesMax, String, ',')}]`,
  'one list of texts': `name[${repeat(limits.filterListValuesMax, (n) => `${'é'.repeat(25)}${n}`, ',')}]`,
  'one list of dates': `write_date[${repeat(limits.filterListValuesMax, dayOf, ',')}]`,
  'one list of quoted texts': `name[${repeat(limits.filterListValuesMax, (n) => `"\\"\\\\${n}\\"${'\\"'.repeat(15)}"`, ',')}]`,
  'one long text': `name*${'x'.repeat(64_000)}`,
  'one long text of LIKE wildcards': `name*${'%_'.repeat(32_000)}`,
  'one long excluded text': `name!*"${'\\"'.repeat(32_000)}"`,
  'one long text of emoji': `name=${'😀'.repeat(16_000)}`,
  'nested groups': nested(32, 'id=1', (inner, n) => `(name=a${n % 2 === 0 ? '&' : '|'}${inner})`),
  'nested groups, each wide': nested(
    32,
    'id=1',
    (inner, n) =>
      `(${repeat(6, (m) => `categ_id!=${m}`, n % 2 === 0 ? '|' : '&')}${n % 2 === 0 ? '|' : '&'}${inner})`,
  ),
  'groups side by side': repeat(100, (n) => `(id=${n}|name=a)`, '&'),
  'unknown fields': repeat(limits.filterConditionsMax, (n) => `x${n}=1`, '&'),
  'unknown fields near known ones': repeat(limits.filterConditionsMax, (n) => `nam${n % 10}=1`, '&'),
  'long unknown fields': repeat(limits.filterConditionsMax, (n) => `${'n'.repeat(300)}${n}=1`, '&'),
  'operators of another type': repeat(limits.filterConditionsMax, (n) => `name>${n}`, '&'),
  'values of another type': `id[${repeat(limits.filterListValuesMax, (n) => `x${n}`, ',')}]`,
  'values that could be corrected': `active[${repeat(limits.filterListValuesMax, () => 'yes', ',')}]`,
  'dates that could be corrected': `write_date[${repeat(limits.filterListValuesMax, () => '2026-11-14 09:30:00 02:00', ',')}]`,
  'long values of another type': `id[${repeat(60, () => 'x'.repeat(1_000), ',')}]`,
}

function repeat(count: number, one: (n: number) => string, by: string): string {
  return Array.from({ length: count }, (_, n) => one(n)).join(by)
}

function nested(depth: number, inmost: string, around: (inner: string, n: number) => string): string {
  let filter = inmost
  for (let n = 0; n < depth; n++) filter = around(filter, n)
  return filter
}

function mixed(n: number): string {
  const each = [
    `id>${n}`,
    `list_price<=${n}.25`,
    `active!=true`,
    `write_date>${dayOf(n)}`,
    `name*a${n}`,
    `categ_id=null`,
  ]
  return each[n % each.length] ?? ''
}

function dayOf(n: number): string {
  return new Date(Date.UTC(2000, 0, 1 + 2 * n)).toISOString().slice(0, 10)
}
