import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openApi } from '../../server/src/http/openapi/document.ts'

/**
 * Generates `src/quartermaster/_wire.py`, the types of records and responses, from the OpenAPI document. `wire.test.ts` fails if it is
 * out of date.
 */

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly string[]
  readonly description?: string
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}

interface Operation {
  readonly parameters?: readonly { readonly name?: string }[]
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>
  >
}

interface Document {
  readonly paths: Readonly<Record<string, { readonly get?: Operation }>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** The schemas, besides the records of lists, that are types here. */
const named = ['NewProduct', 'NewPartner', 'NewCompany', 'Fault', 'NewKey', 'WebhookSecret']

/** `Request` would be read as a request that this program sends. */
const renamed: Readonly<Record<string, string>> = { Request: 'LoggedRequest' }

export const wireFile = fileURLToPath(new URL('src/quartermaster/_wire.py', import.meta.url))

export function wireText(): string {
  const { paths, components }: Document = JSON.parse(JSON.stringify(openApi))
  const resources = Object.entries(paths).flatMap(([path, { get }]) => {
    const name = listedBy(get, components.schemas)
    return name === undefined ? [] : [{ name, path, schema: components.schemas[name] ?? {} }]
  })
  const rows = (value: (one: (typeof resources)[number]) => string) =>
    resources.map((one) => `    "${one.name.toLowerCase()}": ${value(one)},\n`).join('')
  const parts = [
    '"""Generated from the OpenAPI document: node clients/python/generate-wire.ts"""\n\nfrom decimal import Decimal\nfrom typing import Dict, FrozenSet, List, Optional, TypedDict, Union',
    `#: The path of each list.\nPATHS: Dict[str, str] = {\n${rows(({ path }) => `"${path}"`)}}\n\n#: The fields that are decimals.\nDECIMALS: Dict[str, FrozenSet[str]] = {\n${rows(decimalsOf)}}`,
    ...resources.map(({ name, schema }) => typedDict(renamed[name] ?? name, schema)),
    ...named.map((name) => typedDict(name, components.schemas[name] ?? {})),
    typedDict('WebhookTest', components.schemas['WebhookTestResponse']?.properties?.['data'] ?? {}),
  ]
  return `${parts.join('\n\n\n')}\n`
}

/** The schema of a complete record of a list; undefined if the path is not a list with a `filter` parameter. */
function listedBy(
  get: Operation | undefined,
  schemas: Document['components']['schemas'],
): string | undefined {
  if (!get?.parameters?.some(({ name }) => name === 'filter')) return undefined
  const page = nameOf(get.responses['200']?.content?.['application/json']?.schema)
  return nameOf(schemas[page ?? '']?.properties?.['data']?.items?.anyOf?.[0])
}

function nameOf(schema: Schema | undefined): string | undefined {
  return schema?.$ref?.split('/').at(-1)
}

/** Until Python 3.11 a TypedDict has either required or optional members, so required ones are in a base class. */
function typedDict(name: string, schema: Schema): string {
  const members = Object.entries(schema.properties ?? {})
  const isRequired = ([member]: (typeof members)[number]) => schema.required?.includes(member) === true
  const [required, optional] = [members.filter(isRequired), members.filter((one) => !isRequired(one))]
  const doc = schema.description === undefined ? '' : `    """${schema.description}"""\n\n`
  if (optional.length === 0) return `class ${name}(TypedDict):\n${doc}${membersOf(required)}`
  return [
    `class _${name}Required(TypedDict):\n${membersOf(required)}`,
    `class ${name}(_${name}Required, total=False):\n${doc}${membersOf(optional)}`,
  ].join('\n\n')
}

function membersOf(members: readonly (readonly [string, Schema])[]): string {
  return members
    .map(([name, schema]) => {
      const comment = schema.description === undefined ? '' : `    #: ${schema.description}\n`
      return `${comment}    ${name}: ${typeOf(schema)}`
    })
    .join('\n')
}

function typeOf(schema: Schema): string {
  const types = typesOf(schema)
  const plain = types.filter((one) => one !== 'None')
  const type = plain.length === 1 ? (plain[0] ?? '') : `Union[${plain.join(', ')}]`
  return types.includes('None') ? `Optional[${type}]` : type
}

function typesOf(schema: Schema): readonly string[] {
  if (schema.$ref !== undefined) return [nameOf(schema) ?? '']
  if (schema.oneOf !== undefined) return schema.oneOf.flatMap(typesOf)
  const names = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? ['string'])
  return names.flatMap((name) => {
    if (name === 'null') return ['None']
    if (name === 'array') return [`List[${typeOf(schema.items ?? {})}]`]
    // In a request, a decimal may be an integer as well.
    if (name === 'number') return names.includes('string') ? ['Decimal', 'int'] : ['Decimal']
    return [{ integer: 'int', boolean: 'bool', string: 'str' }[name] ?? name]
  })
}

function decimalsOf({ schema }: { readonly schema: Schema }): string {
  const names = Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
    typesOf(property).includes('Decimal') ? [`"${name}"`] : [],
  )
  return names.length === 0 ? 'frozenset()' : `frozenset({${names.join(', ')}})`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(wireFile, wireText())
