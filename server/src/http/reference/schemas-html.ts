import { escaped, markdown } from './markdown.ts'

/** What the page reads of a JSON Schema. */
export interface SchemaNode {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly title?: string
  readonly format?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly required?: readonly string[]
  readonly items?: SchemaNode
  readonly anyOf?: readonly SchemaNode[]
  readonly oneOf?: readonly SchemaNode[]
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly pattern?: string
}

/** The last part of `#/components/schemas/Product`. */
export function referred(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1)
}

/** The type in words; a model is a link to its section. */
export function typeOf(schema: SchemaNode): string {
  if (schema.$ref !== undefined) {
    const name = escaped(referred(schema.$ref))
    return `<a href="#model-${name}">${name}</a>`
  }
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return choices.map(typeOf).join(' or ')
  if (schema.items !== undefined) return `array of ${typeOf(schema.items)}`
  const type = [schema.type ?? 'any'].flat().join(' or ')
  return escaped(
    schema.format === undefined || schema.format === 'int64' ? type : `${type}, ${schema.format}`,
  )
}

/** What limits the value, as a sentence or nothing. */
export function boundsOf(schema: SchemaNode): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema
  const values = schema.enum?.map((value) => `<code>${escaped(JSON.stringify(value))}</code>`).join(', ')
  return [
    values === undefined ? undefined : `One of ${values}.`,
    range('', minimum, maximum),
    range(' characters', minLength, maxLength),
    range(' entries', minItems, maxItems),
    schema.pattern === undefined ? undefined : `Pattern: <code>${escaped(schema.pattern)}</code>.`,
    schema.default === undefined
      ? undefined
      : `Default: <code>${escaped(JSON.stringify(schema.default))}</code>.`,
  ]
    .filter((part) => part !== undefined)
    .join(' ')
}

function range(unit: string, from: number | undefined, to: number | undefined): string | undefined {
  if (from === undefined && to === undefined) return undefined
  if (to === undefined) return `At least ${from}${unit}.`
  return from === undefined ? `At most ${to}${unit}.` : `${from} to ${to}${unit}.`
}

/** A table of the members of an object, those of objects within it included. */
export function membersOf(schema: SchemaNode): string {
  const rows = rowsOf(schema, '')
  if (rows.length === 0) return ''
  return `<div class="table"><table><thead><tr><th>Member</th><th>Type</th><th>Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}

function rowsOf(schema: SchemaNode, path: string): string[] {
  const nested = schema.items ?? schema
  return Object.entries(nested.properties ?? {}).flatMap(([name, member]) => {
    const isRequired = nested.required?.includes(name) === true
    const meaning = `${member.description === undefined ? '' : markdown(member.description)} ${boundsOf(member)}`
    const row = `<tr><td><code>${escaped(path + name)}</code>${isRequired ? '' : ' <small>optional</small>'}</td><td>${typeOf(member)}</td><td>${meaning.trim()}</td></tr>`
    return [row, ...rowsOf(member, `${path}${name}.`)]
  })
}
