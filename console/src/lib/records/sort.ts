/** The order of a list: the `sort` of its address, where `-` before the field means descending. */
export type Direction = 'ascending' | 'descending'

/** Undefined: the list is not ordered by this field. Without `sort`, it is ordered by `id`. */
export function directionOf(sort: string | undefined, name: string): Direction | undefined {
  if ((sort ?? 'id') === name) return 'ascending'
  return sort === `-${name}` ? 'descending' : undefined
}

/** What a click on the column's header does: ascending, descending, then the default again. */
export function nextSort(sort: string | undefined, name: string): string | undefined {
  const direction = directionOf(sort, name)
  if (direction === 'ascending') return `-${name}`
  if (direction === 'descending') return undefined
  return name
}
