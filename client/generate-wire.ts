import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openApi } from '../server/src/http/openapi/document.ts'

/** Generates `src/wire.ts`, the types of request and response bodies, from the OpenAPI document. `wire.test.ts` fails if it is out of date. */

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
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>

interface Document {
  readonly paths: Readonly<Record<string, { readonly get?: Operation }>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** The schemas, besides the records of lists, that are interfaces here. */
const named = [
  'NewProduct',
  'NewPartner',
  'NewCompany',
  'Meta',
  'Pagination',
  'SummaryMeta',
  'Problem',
  'Fault',
  'Self',
  'NewKey',
  'NewKeyRequest',
  'KeyRotation',
  'WebhookSecret',
  'NewWebhookRequest',
  'WebhookChange',
  'WebhookReplay',
]

export const wireFile = fileURLToPath(new URL('src/wire.ts', import.meta.url))

export function wireText(): string {
  const { paths, components }: Document = JSON.parse(JSON.stringify(openApi))
  const resources = Object.entries(paths).flatMap(([path, { get }]) => {
    const name = listedBy(get, components.schemas)
    return name === undefined ? [] : [{ name, path, schema: components.schemas[name] ?? {} }]
  })
  const parts = [
    '// Generated from the OpenAPI document: npm run wire --workspace client',
    `/** The path of each list. */\nexport const paths = {\n${resources.map(({ name, path }) => `  ${name.toLowerCase()}: '${path}',\n`).join('')}} as const`,
    ...resources.flatMap(({ name, schema }) => [interfaceOf(name, schema), kindsOf(name, schema)]),
    `/** The fields that are decimals. */\nexport const decimalFields = [${decimalsOf(
      resources
        .filter(({ name }) => `New${name}` in components.schemas && name !== 'Key')
        .map(({ schema }) => schema),
    )}] as const`,
    ...named.map((name) => interfaceOf(name, components.schemas[name] ?? {})),
    interfaceOf('WebhookTest', components.schemas['WebhookTestResponse']?.properties?.['data'] ?? {}),
  ]
  return `${parts.join('\n\n')}\n`
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

function interfaceOf(name: string, schema: Schema): string {
  const members = Object.entries(schema.properties ?? {}).map(([member, property]) => {
    const optional = schema.required?.includes(member) ? '' : '?'
    const type = typeOf(property)
    return `${comment(property.description, '  ')}  readonly ${member}${optional}:${type.startsWith('\n') ? '' : ' '}${type}\n`
  })
  return `${comment(schema.description, '')}export interface ${name} {\n${members.join('')}}`
}

/** A number that is not an integer. */
function decimalsOf(schemas: readonly Schema[]): string {
  const names = schemas.flatMap(({ properties = {} }) =>
    Object.entries(properties).flatMap(([name, property]) => (kindOf(property) === 'decimal' ? [name] : [])),
  )
  return [...new Set(names)].map((name) => `'${name}'`).join(', ')
}

function kindsOf(name: string, { properties = {} }: Schema): string {
  const members = Object.entries(properties).map(
    ([member, property]) => `  readonly ${member}: '${kindOf(property)}'\n`,
  )
  return `/** The type of each field in a filter. */\nexport interface ${name}Kinds {\n${members.join('')}}`
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return nameOf(schema) ?? ''
  // As the formatter has it: a few on one line.
  if (schema.enum !== undefined && schema.enum.length < 4)
    return schema.enum.map((one) => `'${one}'`).join(' | ')
  if (schema.enum !== undefined) return schema.enum.map((one) => `\n    | '${one}'`).join('')
  if (schema.oneOf !== undefined) return schema.oneOf.map(typeOf).join(' | ')
  if (schema.items !== undefined)
    return `readonly ${schema.items.enum === undefined ? typeOf(schema.items) : `(${typeOf(schema.items)}\n  )`}[]${namesOf(schema).includes('null') ? ' | null' : ''}`
  return namesOf(schema)
    .map((name) => (name === 'integer' ? 'number' : name))
    .join(' | ')
}

function kindOf(schema: Schema): string {
  const name = namesOf(schema).find((one) => one !== 'null')
  if (name === 'string') return schema.format?.startsWith('date') ? 'timestamp' : 'text'
  // In a filter, a list is one text with commas.
  if (name === 'array') return 'text'
  return name === 'number' ? 'decimal' : (name ?? '')
}

function namesOf({ type = [] }: Schema): readonly string[] {
  return typeof type === 'string' ? [type] : type
}

function comment(text: string | undefined, indent: string): string {
  return text === undefined ? '' : `${indent}/** ${text} */\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(wireFile, wireText())
