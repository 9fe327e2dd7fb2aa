import type { Collection, Field } from '../../api/catalog.ts'
import type { Row } from '../../api/read.ts'
import { t } from '../../texts/texts.ts'
import { isAmount, plainText } from '../format.ts'
import { labelOf } from '../labels.ts'
import { presentations } from './views.ts'

/** The fields of the view, in the order of the `fields` parameter. A name that the catalog does not have stays as text. */
export function fieldsOf(collection: Collection, fields: string | undefined): readonly Field[] {
  if (fields === undefined) return collection.fields
  return [...new Set(fields.split(','))].map(
    (name) =>
      collection.fields.find((field) => field.name === name) ?? {
        name,
        type: 'text',
        nullable: true,
        description: t.list.notAField,
      },
  )
}

/** The `fields` parameter of the URL for these names; undefined for those that are shown by default. */
export function fieldsParameter(collection: Collection, names: readonly string[]): string | undefined {
  const text = names.join(',')
  const shown = presentations[collection.name].fields ?? collection.fields.map(({ name }) => name).join(',')
  return text === shown ? undefined : text
}

/** Moves a name before another one, or to the end. */
export function moved(names: readonly string[], name: string, before: string | undefined): readonly string[] {
  const rest = names.filter((one) => one !== name)
  const at = before === undefined ? -1 : rest.indexOf(before)
  return at < 0 ? [...rest, name] : [...rest.slice(0, at), name, ...rest.slice(at)]
}

const widthMin = 72
const widthMax = 340
const characterWidth = 8.2
const padding = 34
/** Shown as "10 minutes ago". */
const relative = new Set(['created_at', 'expires_at', 'revoked_at'])
/** Rows that are measured: the first ones are typical, and measuring 1,000 would delay the first view. */
const measuredRowsMax = 60

/** A longer label is cut, and complete in its tooltip. */
const labelCharacters = 24

/** A width in pixels for each column: as wide as its contents, within bounds. */
export function columnWidths(
  fields: readonly Field[],
  rows: readonly Row[],
  screenWidth = 1280,
): readonly number[] {
  // On a phone, a long text must leave space for the next column.
  const most = Math.min(widthMax, screenWidth / 2)
  return fields.map((field) => {
    const { name, type } = field
    const longest = rows
      .slice(0, measuredRowsMax)
      .reduce((length, row) => Math.max(length, plainText(row[name]).length), 0)
    const content =
      type === 'timestamp'
        ? Math.min(longest, relative.has(name) ? 12 : 19)
        : // A separator for every three digits.
          longest * (isAmount(field) ? 1.2 : 1)
    const characters = Math.max(content, Math.min(labelOf(field).length, labelCharacters))
    return Math.round(Math.min(most, Math.max(widthMin, characters * characterWidth + padding)))
  })
}
