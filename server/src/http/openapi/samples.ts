/** A sample program for an operation. It reads the account's URL from `BASE_URL` and a key from `KEY`. */
export interface Sample {
  readonly lang: string
  readonly label: string
  readonly source: string
}

export const sendsJson = "-H 'Content-Type: application/json'"

/** The sample fails if the response is an error. `flags`: of curl, such as ` -G`. */
export function curl(flags: string, path: string, ...options: readonly string[]): Sample {
  const key = '-H "Authorization: Bearer $KEY"'
  const lines = [`curl --fail-with-body${flags}`, `"$BASE_URL${path}"`, key, ...options]
  return { lang: 'Shell', label: 'curl', source: lines.join(' \\\n  ') }
}

export function typescript(...lines: readonly string[]): Sample {
  return {
    lang: 'TypeScript',
    label: 'TypeScript',
    source: [
      "import { Quartermaster } from '@quartermaster/client'",
      '',
      'const qm = new Quartermaster({',
      "  baseUrl: process.env.BASE_URL ?? '',",
      "  apiKey: process.env.KEY ?? '',",
      '})',
      ...lines,
    ].join('\n'),
  }
}

/** As TypeScript: `{ name: 'Bolt' }`. */
export function literalOf(record: object): string {
  const members = Object.entries(record).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? `'${value}'` : String(value)}`,
  )
  return `{ ${members.join(', ')} }`
}
