/** The parts of an OpenAPI 3.1 document that the tests of its examples use. */
export interface Document {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: unknown
}

export interface Operation {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly 'x-codeSamples'?: readonly { readonly lang: string; readonly source: string }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, Response>>
  /** The media types of an export. */
  readonly 'x-export'?: Readonly<Record<string, Media>>
  /** The media types of a streamed batch, and of its response. */
  readonly 'x-stream-body'?: Readonly<Record<string, Media>>
  readonly 'x-stream-response'?: Readonly<Record<string, Media>>
  readonly security?: readonly unknown[]
}

export interface Response {
  readonly headers?: Readonly<Record<string, { readonly required?: boolean; readonly schema: Schema }>>
  readonly content?: Readonly<Record<string, Media>>
}

export interface Parameter {
  readonly name: string
  readonly in: 'query' | 'path' | 'header'
  readonly required?: boolean
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

export interface Media {
  readonly schema: Schema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: object; readonly 'x-request'?: string }>>
}

export interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly minimum?: number
  readonly maxLength?: number
}

/** Parses a document and resolves every `$ref`. */
export function parseDocument(text: string): Document {
  const root: unknown = JSON.parse(text)
  const resolve = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(resolve)
    if (!isObject(node)) return node
    if (typeof node['$ref'] === 'string') return resolve(resolvePointer(root, node['$ref']))
    return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, resolve(value)]))
  }
  const document: unknown = resolve(root)
  if (!isDocument(document)) throw new Error('This is not an OpenAPI document.')
  return document
}

function isDocument(value: unknown): value is Document {
  return isObject(value) && ['openapi', 'info', 'paths', 'components'].every((member) => member in value)
}

export function examplesOf(parameter: Parameter): readonly unknown[] {
  if (parameter.examples !== undefined) return Object.values(parameter.examples).map(({ value }) => value)
  return parameter.example === undefined ? [] : [parameter.example]
}

/** The differences between a value and its schema; empty if the value is valid. */
export function schemaErrors(value: unknown, schema: Schema, path = ''): string[] {
  if (schema.anyOf !== undefined) {
    const all = schema.anyOf.map((one) => schemaErrors(value, one, path))
    return all.some((one) => one.length === 0) ? [] : all.flat()
  }
  const found: string[] = []
  const types = schema.type === undefined ? [] : [schema.type].flat()
  if (types.length > 0 && !types.some((type) => hasType(value, type))) {
    return [`${path}: ${JSON.stringify(value)} is not ${types.join(' or ')}`]
  }
  if (schema.enum !== undefined && !schema.enum.includes(value)) found.push(`${path}: not in the enum`)
  if (schema.const !== undefined && schema.const !== value)
    found.push(`${path}: not ${JSON.stringify(schema.const)}`)
  if (typeof value === 'number' && value < (schema.minimum ?? value)) found.push(`${path}: too small`)
  if (typeof value === 'string' && value.length > (schema.maxLength ?? value.length))
    found.push(`${path}: too long`)
  if (Array.isArray(value) && schema.items !== undefined) {
    const { items } = schema
    found.push(...value.flatMap((item, i) => schemaErrors(item, items, `${path}/${i}`)))
  }
  return isObject(value) ? [...found, ...objectSchemaErrors(value, schema, path)] : found
}

/** The required headers that are missing, and those with a wrong value. */
export function headerErrors(
  sent: Readonly<Record<string, string | readonly string[] | undefined>>,
  { headers = {} }: Response,
): string[] {
  return Object.entries(headers).flatMap(([name, { required = false, schema }]) => {
    const value = sent[name.toLowerCase()]
    if (value === undefined) return required ? [`${name}: missing`] : []
    return schemaErrors(schema.type === 'integer' ? Number(value) : String(value), schema, name)
  })
}

function objectSchemaErrors(value: Record<string, unknown>, schema: Schema, path: string): string[] {
  const { properties = {}, required = [], additionalProperties = true } = schema
  const missing = required.filter((name) => !(name in value)).map((name) => `${path}/${name}: missing`)
  const invalid = Object.entries(value).flatMap(([name, member]) => {
    const known = properties[name]
    if (known !== undefined) return schemaErrors(member, known, `${path}/${name}`)
    return additionalProperties ? [] : [`${path}/${name}: unknown`]
  })
  return [...missing, ...invalid]
}

function hasType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isObject(value)
  return typeof value === type
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function resolvePointer(root: unknown, reference: string): unknown {
  return reference
    .split('/')
    .slice(1)
    .reduce(
      (node, name) => (isObject(node) ? node[name.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
      root,
    )
}
