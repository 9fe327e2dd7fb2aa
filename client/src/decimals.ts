/** How responses represent decimals. `number`: a double, which rounds beyond 15 digits. `string`: every digit of the service. */
export type Decimals = 'number' | 'string'

/** A record with its decimals as D. K: the kind of each field. */
export type WithDecimals<R, K, D> = D extends 'string'
  ? {
      readonly [F in keyof R]: F extends keyof K
        ? K[F] extends 'decimal'
          ? string | Extract<R[F], null>
          : R[F]
        : R[F]
    }
  : R

/**
 * Puts the numbers of these members into quotes. In JSON a quote within a text is escaped, so `"list_price":` is always a
 * member. (`JSON.parse` passes the source text of a number to its reviver only on newer platforms.)
 */
export function quoteDecimals(json: string, fields: ReadonlySet<string>): string {
  return json.replace(/"(\w+)":(-?\d[\d.eE+-]*)/g, (member, name: string, number: string) =>
    fields.has(name) ? `"${name}":"${number}"` : member,
  )
}
