/**
 * Parts of values that the server's own code, SQL and ids never contain, by the kind of value: if a statement has one, it came from a
 * request or a row. Letters, digits and `-` are the same in every encoding.
 */
export const markers = { text: 'zqx', number: '617983', time: '7731-07' } as const

export type Marker = keyof typeof markers

/** The kinds of values whose marker a text contains. */
export function markersIn(text: string): Marker[] {
  const lower = text.toLowerCase()
  const kinds: Marker[] = ['text', 'number', 'time']
  return kinds.filter((kind) => lower.includes(markers[kind]))
}
