import type { Resource, ResourceName } from '../../catalog/resources.ts'

/** A sample program for an operation. It reads the account's URL from `BASE_URL` and a key from `KEY`. */
export interface Sample {
  readonly lang: string
  readonly label: string
  readonly source: string
}

export const key = '-H "Authorization: Bearer $KEY"'
const filters: Record<ResourceName, string> = {
  product: 'list_price>10&active=true',
  partner: 'is_customer=true|is_vendor=true',
  company: 'name*a',
}

export const curl = (label: string, ...lines: readonly string[]): Sample => ({
  lang: 'Shell',
  label,
  source: lines.join(' \\\n  '),
})

const typescript = (label: string, ...lines: readonly string[]): Sample => ({
  lang: 'TypeScript',
  label,
  source: [
    "import { Quartermaster } from '@quartermaster/client'",
    '',
    'const qm = new Quartermaster({',
    "  baseUrl: process.env.BASE_URL ?? '',",
    "  apiKey: process.env.KEY ?? '',",
    '})',
    ...lines,
  ].join('\n'),
})

export function listSamples({ name, plural, path }: Resource): readonly Sample[] {
  const url = `"$BASE_URL/api/v1/${path}"`
  const filter = filters[name]
  return [
    curl(
      'curl',
      'curl --fail-with-body -G',
      url,
      key,
      `--data-urlencode 'filter=${filter}'`,
      "--data 'fields=id,name' --data 'limit=5'",
    ),
    curl(
      'curl: QUERY',
      'curl --fail-with-body -X QUERY',
      url,
      key,
      `--data-urlencode 'filter=${filter}'`,
      "--data 'fields=id,name' --data 'limit=5'",
    ),
    curl(
      'curl: all, as CSV',
      'curl --fail-with-body --compressed',
      url,
      key,
      `-H 'Accept: text/csv' -o ${plural}.csv`,
    ),
    typescript(
      'TypeScript',
      `const page = await qm.${plural}.list({`,
      "  fields: ['id', 'name'],",
      `  filter: '${filter}',`,
      '  limit: 5,',
      '})',
      'console.log(page.meta.total, page.data)',
    ),
    typescript(
      'TypeScript: all',
      `const all = qm.${plural}.export({ fields: ['id', 'name'] })`,
      `for await (const ${name} of all) console.log(${name}.name)`,
    ),
  ]
}

export function oneSamples({ name, plural, path }: Resource): readonly Sample[] {
  return [
    curl('curl', 'curl --fail-with-body', `"$BASE_URL/api/v1/${path}/1?fields=id,name"`, key),
    typescript(
      'TypeScript',
      `const ${name} = await qm.${plural}.get(1, { fields: ['id', 'name'] })`,
      `console.log(${name}.name)`,
    ),
  ]
}

export function changesSamples({ plural, path }: Resource): readonly Sample[] {
  const url = `"$BASE_URL/api/v1/${path}/changes"`
  return [
    curl('curl', 'curl --fail-with-body -G', url, key, "--data 'since=now' --data 'wait=1'"),
    curl(
      'curl: from the beginning',
      'curl --fail-with-body --compressed -G',
      url,
      key,
      "--data 'limit=1000'",
    ),
    typescript(
      'TypeScript',
      `for await (const { change, id, cursor } of qm.${plural}.changes({ since: 'now', wait: 1 })) {`,
      '  console.log(change, id, cursor)',
      '}',
    ),
  ]
}

export function createSamples({ name, path, plural }: Resource, record: object): readonly Sample[] {
  return [
    curl(
      'curl',
      'curl --fail-with-body',
      `"$BASE_URL/api/v1/${path}"`,
      key,
      "-H 'Content-Type: application/json'",
      `-H 'Idempotency-Key: ${name}-of-order-4711'`,
      `-d '${JSON.stringify(record)}'`,
    ),
    typescript(
      'TypeScript',
      `const { id } = await qm.${plural}.create(`,
      `  ${literalOf(record)},`,
      `  { idempotencyKey: '${name}-of-order-4711' },`,
      ')',
      'console.log(id)',
    ),
  ]
}

/** As TypeScript: `{ name: 'Bolt' }`. */
function literalOf(record: object): string {
  const members = Object.entries(record).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? `'${value}'` : String(value)}`,
  )
  return `{ ${members.join(', ')} }`
}

export function changeSamples({ path, plural }: Resource, record: object): readonly Sample[] {
  return [
    curl(
      'curl',
      'curl --fail-with-body -X PATCH',
      `"$BASE_URL/api/v1/${path}/1"`,
      key,
      "-H 'Content-Type: application/merge-patch+json'",
      `-d '${JSON.stringify(record)}'`,
    ),
    typescript(
      'TypeScript',
      `const changed = await qm.${plural}.update(1, ${literalOf(record)})`,
      'console.log(changed.write_date)',
    ),
  ]
}

export function deleteSamples({ path, plural }: Resource): readonly Sample[] {
  return [
    curl('curl', 'curl --fail-with-body -X DELETE', `"$BASE_URL/api/v1/${path}/1"`, key),
    typescript('TypeScript', `await qm.${plural}.delete(2)`),
  ]
}

export function batchSamples({ path, plural }: Resource, rows: readonly object[]): readonly Sample[] {
  const lines = rows.map((row) => JSON.stringify(row))
  return [
    curl(
      'curl',
      'curl --fail-with-body',
      `"$BASE_URL/api/v1/${path}/batch"`,
      key,
      "-H 'Content-Type: application/x-ndjson'",
      `--data-binary $'${lines.join('\\n')}'`,
    ),
    typescript(
      'TypeScript',
      `const totals = await qm.${plural}.upsert([`,
      ...rows.map((row) => `  ${literalOf(row)},`),
      '])',
      'console.log(totals)',
    ),
  ]
}

export function healthSamples(path: string): readonly Sample[] {
  return [curl('curl', `curl --fail-with-body "$BASE_URL${path}"`)]
}
