import type { Collection, Field, FieldType } from './catalog.ts'

/** The fields that the account has declared, in the order of declaration. */
export interface OwnFields {
  readonly product: readonly Field[]
  readonly partner: readonly Field[]
  readonly company: readonly Field[]
}

/** The part of `/openapi.json` that describes records. Only administrators can read `/manage/v1/fields`. */
export interface ApiDocument {
  readonly components: {
    readonly schemas: Readonly<
      Record<string, { readonly properties?: Readonly<Record<string, Property>> } | undefined>
    >
  }
}

interface Property {
  readonly type: string | readonly string[]
  readonly format?: string
  readonly description?: string
}

export function ownFieldsOf({ components }: ApiDocument): OwnFields {
  const fieldsOf = (schema: string) =>
    Object.entries(components.schemas[schema]?.properties ?? {})
      .filter(([name]) => isOwnName(name))
      .map(([name, property]) => ({
        name,
        type: typeOf(property),
        nullable: true,
        description: property.description ?? '',
      }))
  return { product: fieldsOf('Product'), partner: fieldsOf('Partner'), company: fieldsOf('Company') }
}

/** No field of the service begins with this prefix. */
export function isOwnName(name: string): boolean {
  return name.startsWith('x_')
}

function typeOf({ type, format }: Property): FieldType {
  const [json] = [type].flat()
  if (json === 'number') return 'decimal'
  if (json === 'string') return format === 'date-time' ? 'timestamp' : 'text'
  if (json === 'integer' || json === 'boolean') return json
  throw new Error(`The service describes a field of the unknown type ${JSON.stringify(type)}.`)
}

export interface AccountCollection extends Collection {
  /** False: the account may have declared fields that are not loaded yet, or could not be loaded. */
  readonly isComplete: boolean
}

/** The list with the fields of the account after those of the service. */
export function withOwnFields(collection: Collection, own: OwnFields | undefined): AccountCollection {
  const { name } = collection
  if (name !== 'product' && name !== 'partner' && name !== 'company')
    return { ...collection, isComplete: true }
  if (own === undefined) return { ...collection, isComplete: false }
  return { ...collection, isComplete: true, fields: [...collection.fields, ...own[name]] }
}

/**
 * Puts the numbers of declared fields into quotes that a JavaScript number would change. Responses may be read before the types of the
 * fields are known. In JSON a quote within a text is escaped, so `"x_weight":` is always a member.
 */
export function quoteInexact(json: string): string {
  return json.replace(/"(x_\w+)":(-?\d[\d.eE+-]*)/g, (member, name: string, number: string) =>
    String(Number(number)) === number ? member : `"${name}":"${number}"`,
  )
}
