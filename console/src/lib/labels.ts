import type { CollectionName, Field } from '../api/catalog.ts'
import { isOwnName } from '../api/own-fields.ts'
import { t } from '../texts/texts.ts'

/** What the service says of a field that was declared without a label. */
const unlabelled = 'A field of this account.'

/** "Phone" for `phone`. A declared field has the label of its declaration, which is its description. */
export function labelOf({ name, description }: Pick<Field, 'name' | 'description'>): string {
  if (isOwnName(name)) return description === '' || description === unlabelled ? name : description
  const known = t.fieldLabels[name]
  if (known !== undefined) return known
  const words = name.replace(/^is_/, '').replaceAll('_', ' ').replace(/ id$/, '')
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

/** What the tooltip of a label says: the technical name, which filters and the API use, and the meaning. */
export function meaningOf(field: Field, list?: CollectionName): string {
  const description = descriptionOf(field, list)
  const meaning = isOwnName(field.name) || description === '' ? '' : `: ${description}`
  return `${field.name} (${field.type})${meaning}`
}

/** What a field means. A declared field has the words of the account. */
export function descriptionOf({ name, description }: Field, list: CollectionName | undefined): string {
  const meanings: Readonly<Record<string, string>> = list === undefined ? {} : (t.fieldMeanings[list] ?? {})
  return meanings[name] ?? description
}

/** Lists that the service orders only by time. */
export function isSortable(collection: CollectionName, { name }: Pick<Field, 'name'>): boolean {
  const isResource = collection === 'product' || collection === 'partner' || collection === 'company'
  return isResource && !isOwnName(name)
}
