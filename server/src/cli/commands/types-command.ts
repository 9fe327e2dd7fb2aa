import { text } from 'node:stream/consumers'
import { Command } from 'commander'
import { isOwnFieldName } from '../../catalog/own-fields.ts'
import { resources } from '../../catalog/resources.ts'
import { limits } from '../../limits/limits.ts'

interface Property {
  readonly type: string | readonly string[]
  readonly format?: string
  readonly description?: string
}

interface Document {
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties?: Readonly<Record<string, Property>> }>>
  }
}

/** A module with the fields that an account has declared, for the TypeScript client. It is made from `/openapi.json`, so any key will do. */
export function typesCommand(): Command {
  return new Command('types')
    .description(
      "write an account's fields to stdout, as a TypeScript module for the client; reads an API key from stdin",
    )
    .requiredOption('--url <url>', "URL of the account's host, such as https://acme.example.com (required)")
    .action(async ({ url }: { url: string }) => {
      const key = (await text(process.stdin)).trim()
      process.stdout.write(moduleOf(await documentOf(url, key), url))
    })
}

async function documentOf(url: string, key: string): Promise<Document> {
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Error('Standard input has no API key.')
  if (!URL.canParse(url)) throw new Error(`${url} is not a URL such as https://acme.example.com.`)
  const address = String(new URL('openapi.json', url.endsWith('/') ? url : `${url}/`))
  const response = await fetch(address, {
    headers: { authorization: `Bearer ${key}` },
    signal: AbortSignal.timeout(limits.typesTimeoutMs),
  }).catch((cause: unknown) => {
    throw new Error(`No response from ${address}.`, { cause })
  })
  if (response.status === 401) throw new Error(`The service at ${url} rejects the key.`)
  if (response.status !== 200) throw new Error(`${address} returned ${response.status}.`)
  const document: Document = JSON.parse(await response.text())
  return document
}

function moduleOf({ components }: Document, url: string): string {
  const lines = Object.values(resources).flatMap(({ name }) => {
    const title = name.charAt(0).toUpperCase() + name.slice(1)
    const own = Object.entries(components.schemas[title]?.properties ?? {}).filter(([member]) =>
      isOwnFieldName(member),
    )
    if (own.length === 0) return []
    return [`  ${name}: {`, ...own.flatMap(([member, property]) => linesOf(member, property)), '  },']
  })
  return [
    `// Written by: quartermaster types --url ${JSON.stringify(url)}`,
    '',
    '/** Pass them to the client: new Quartermaster({ …, fields }) */',
    lines.length === 0
      ? 'export const fields = {} as const'
      : ['export const fields = {', ...lines, '} as const'].join('\n'),
    '',
  ].join('\n')
}

function linesOf(name: string, property: Property): string[] {
  const label = (property.description ?? '').replaceAll('*/', '* /').replaceAll(/\s/g, ' ').trim()
  const field = `    ${name}: '${kindOf(property)}',`
  return label === '' ? [field] : [`    /** ${label} */`, field]
}

function kindOf({ type, format }: Property): string {
  const [json] = [type].flat()
  if (json === 'number') return 'decimal'
  if (json === 'string') return format === 'date-time' ? 'timestamp' : 'text'
  if (json === 'integer' || json === 'boolean') return json
  throw new Error(`The document describes a field of the unknown type ${JSON.stringify(type)}.`)
}
