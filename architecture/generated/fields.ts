import type { Field } from '../../server/src/catalog/field.ts'
import { resources } from '../../server/src/catalog/resources.ts'
import { type ViewName, views } from '../../server/src/catalog/views.ts'
import { cell, code, table } from './markdown.ts'

/** The tables of fields, from the catalog. */

function typeOf({ type, nullable, charactersMax, wire }: Field): string {
  const name = wire === 'list' ? 'list of texts' : (wire ?? type)
  const length = charactersMax === undefined ? '' : ` up to ${charactersMax}`
  return `${name}${length}${nullable ? ', null' : ''}`
}

const tableOf = (fields: readonly Field[]) =>
  table(
    ['Field', 'Type', 'Meaning'],
    fields.map((field) => [code(field.name), typeOf(field), cell(field.description)]),
  )

/** The fields of all three resources, and of each. */
export function records(): string {
  const all = Object.values(resources)
  const [first] = all
  const shared = (first?.fields ?? []).filter(({ name }) =>
    all.every(({ fields }) => fields.some((field) => field.name === name)),
  )
  const own = all.map(({ noun, fields }) => {
    const title = `${noun.charAt(0).toUpperCase()}${noun.slice(1)}`
    const rows = fields.filter(({ name }) => !shared.some((field) => field.name === name))
    return `**${title}**\n\n${tableOf(rows)}`
  })
  return [`**Every record**\n\n${tableOf(shared)}`, ...own].join('\n\n')
}

/** `described`: fields that the page describes as members of a request. */
export const viewFields = (name: ViewName, described: readonly string[]) =>
  tableOf(views[name].fields.filter((field) => !described.includes(field.name)))
