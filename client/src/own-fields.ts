import type { Kind } from './condition.ts'

type Kinds = Readonly<Record<string, Kind>>

/** The fields that an account has declared, as `quartermaster types` writes them. */
export interface OwnFields {
  readonly product?: Kinds
  readonly partner?: Kinds
  readonly company?: Kinds
}

/** The kinds of the fields that the account has declared for a resource. */
export type OwnKinds<F, Name> = Name extends keyof F ? F[Name] : unknown

/** These fields in a record. Any of them can be null. */
export type OwnValues<F, Name> = Name extends keyof F
  ? { readonly [N in keyof F[Name]]: JsonOf<F[Name][N]> | null }
  : unknown

/** These fields in a new record. */
export type NewOwnValues<F, Name> = Name extends keyof F
  ? {
      readonly [N in keyof F[Name]]?:
        | JsonOf<F[Name][N]>
        | (F[Name][N] extends 'decimal' ? string : never)
        | null
    }
  : unknown

type JsonOf<K> = K extends 'integer' | 'decimal' ? number : K extends 'boolean' ? boolean : string

/** A record: its id, or a unique field with its value, such as `{ x_sku: '4711' }`. */
export type Address<K> = number | UniqueValue<K>

/** One text or integer field with its value. */
export type UniqueValue<K> = {
  readonly [F in keyof K as K[F] extends 'text' | 'integer' ? F : never]?: K[F] extends 'text'
    ? string
    : number
}

/** The end of the path of a record. */
export function pathOf(address: object | number): string {
  if (typeof address !== 'object') return checkedId(address)
  const [[name, value] = [], ...others] = Object.entries(address)
  if (name === undefined || others.length > 0 || (typeof value !== 'string' && typeof value !== 'number'))
    throw new TypeError("A record is addressed by its id or by one unique field: { x_sku: '4711' }.")
  return `${encodeURIComponent(name)}/${encodeURIComponent(value)}`
}

function checkedId(id: number): string {
  if (!/^\d+$/.test(String(id))) throw new TypeError(`${String(id)} is not an id: pass a positive integer.`)
  return String(id)
}
