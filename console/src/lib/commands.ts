import { FilterError, parse } from '@quartermaster/filter'
import type { Access } from '../api/access.ts'
import { type Collection, type CollectionName, collections } from '../api/catalog.ts'
import type { Found } from '../api/find.ts'
import { type OwnFields, withOwnFields } from '../api/own-fields.ts'
import { notOfConsole } from '../api/request-id.ts'
import { check } from '../filter/diagnostics.ts'
import { t } from '../texts/texts.ts'
import { grouped } from './format.ts'
import { labelOf } from './labels.ts'
import { type Language, otherLanguages } from './language.ts'
import type { SavedView } from './records/saved-views.ts'
import { reasonsOf, searchOf, wordsOf } from './records/search-words.ts'
import { parseSearch } from './search.ts'

/** Something that the command palette offers. All but a few are addresses: every view is its URL. */
export interface Command {
  readonly label: string
  readonly hint: string
  /** Why a record was found, if its label does not say so. */
  readonly why?: string
  readonly action:
    | { readonly kind: 'go'; readonly to: string; readonly search: Record<string, string> }
    | { readonly kind: 'language'; readonly language: Language }
    | { readonly kind: 'run'; readonly name: 'help' | 'theme' | 'sign-out' | 'reference' }
}

const recordPages = [
  ['product', '/products'],
  ['partner', '/partners'],
  ['company', '/companies'],
] as const

const managePages: readonly (readonly [string, CollectionName, Record<string, string>?])[] = [
  ['/keys', 'key'],
  ['/fields', 'field'],
  ['/webhooks', 'webhook'],
  ['/deliveries', 'delivery'],
  ['/audit', 'audit'],
  ['/requests', 'request', { filter: notOfConsole }],
  ['/usage', 'usage'],
]

interface Situation {
  readonly typed: string
  /** The path and parameters of the current page. */
  readonly to: string
  readonly search: Record<string, string>
  readonly access: Access | undefined
  /** The declared fields of the account, if they are loaded. */
  readonly own: OwnFields | undefined
  readonly views: readonly SavedView[]
  /** The records with the words that were typed. */
  readonly found: readonly Found[]
}

export function commandsFor(situation: Situation): readonly Command[] {
  const typed = situation.typed.trim()
  const words = typed.toLowerCase().split(/\s+/)
  const fixed = fixedCommands(situation).filter(({ label, hint }) => {
    const text = `${label} ${hint}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  // Records come later than the rest, so they are below it: nothing moves under the cursor.
  return [...computed(typed, situation), ...fixed, ...records(typed, situation)]
}

/** Commands made from what was typed: a record by its id, or a filter. */
function computed(typed: string, { access, own }: Situation): Command[] {
  const pages = recordPages.filter(([name]) => access?.[name] !== false)
  if (/^\d{1,16}$/.test(typed)) {
    return pages.map(([name, to]) => ({
      label: t.palette.open(t.nouns[name].one, typed),
      hint: t.palette.record,
      action: { kind: 'go', to, search: { record: typed } },
    }))
  }
  return pages
    .filter(([name]) => isFilterOf(typed, withOwnFields(collections[name], own)))
    .map(([name, to]) => ({
      label: t.palette.filterBy(t.nouns[name].many, typed),
      hint: collections[name].path,
      action: { kind: 'go', to, search: { filter: typed } },
    }))
}

/** The records that were found, and the complete list if there are more. */
function records(typed: string, { found, own }: Situation): Command[] {
  const search = searchOf(typed)
  if (search === undefined) return []
  const words = wordsOf(search)
  return found.flatMap(({ name, list }) => {
    const to = recordPages.find(([page]) => page === name)?.[1] ?? '/'
    const { one, many } = t.nouns[name]
    const more = list.meta.total - list.data.length
    return [
      ...list.data.map((row): Command => {
        const why = reasonsOf(withOwnFields(collections[name], own), row, words)
          .map(({ field, text }) => `${labelOf(field)}: ${text}`)
          .join(', ')
        const id = String(row['id'])
        return {
          label: String(row['name']),
          hint: `${one} ${id}`,
          ...(why === '' ? {} : { why }),
          action: { kind: 'go', to, search: { search, record: id } },
        }
      }),
      ...(more > 0
        ? [
            {
              label: t.palette.allWith(grouped(list.meta.total), many, search),
              hint: t.palette.searchHint,
              action: { kind: 'go', to, search: { search } },
            } as const,
          ]
        : []),
    ]
  })
}

function isFilterOf(text: string, collection: Collection): boolean {
  if (!/[=*<>[]/.test(text)) return false
  try {
    parse(text)
    return check(text, collection).diagnostics.length === 0
  } catch (error) {
    if (error instanceof FilterError) return false
    throw error
  }
}

function fixedCommands({ to, search, access, views }: Situation): Command[] {
  const go = (
    label: string,
    hint: string,
    target: string,
    parameters: Record<string, string> = {},
  ): Command => ({
    label,
    hint,
    action: { kind: 'go', to: target, search: parameters },
  })
  const { record: _, ...list } = search
  return [
    ...recordPages
      .filter(([name]) => access?.[name] !== false)
      .map(([name, path]) => go(t.pages[name], t.palette.page, path)),
    go(t.pages.changes, t.palette.page, '/changes'),
    ...(access?.manage === true
      ? managePages.map(([path, name, parameters]) => go(t.pages[name], t.palette.page, path, parameters))
      : []),
    ...recordPages
      .filter(([name]) => access?.write.includes(name) === true)
      .map(([name]) =>
        go(t.palette.import(t.nouns[name].many), t.palette.action, '/import', { resource: name }),
      ),
    ...recordPages
      .filter(([name]) => access?.create.includes(name) === true)
      .map(([name, path]) =>
        go(t.record.createTitle(t.nouns[name].one), t.palette.action, path, { dialog: 'create' }),
      ),
    ...(access?.manage === true
      ? [
          go(t.record.createTitle(t.nouns.key.one), t.palette.action, '/keys', { dialog: 'create' }),
          go(t.palette.declareField, t.palette.action, '/fields', { dialog: 'create' }),
          go(t.record.createTitle(t.nouns.webhook.one), t.palette.action, '/webhooks', { dialog: 'create' }),
        ]
      : []),
    ...(to === '/usage'
      ? []
      : [go(t.palette.showRequest, t.palette.thisList, to, { ...list, panel: 'request' })]),
    ...(search['filter'] === undefined
      ? []
      : [go(t.list.removeFilter, t.palette.thisList, to, without(list, 'filter'))]),
    ...(search['search'] === undefined
      ? []
      : [go(t.list.removeSearch, t.palette.thisList, to, without(list, 'search'))]),
    ...(search['fields'] === undefined
      ? []
      : [go(t.palette.defaultColumns, t.palette.thisList, to, without(list, 'fields'))]),
    ...views.flatMap(({ name, page, search: saved }) => {
      const path = recordPages.find(([collection]) => collection === page)?.[1]
      return path === undefined ? [] : [go(name, t.palette.savedView, path, parseSearch(saved))]
    }),
    { label: t.palette.help, hint: t.app.help, action: { kind: 'run', name: 'help' } },
    { label: t.palette.scheme, hint: t.palette.setting, action: { kind: 'run', name: 'theme' } },
    { label: t.palette.reference, hint: t.app.help, action: { kind: 'run', name: 'reference' } },
    { label: t.app.signOut, hint: t.palette.action, action: { kind: 'run', name: 'sign-out' } },
    ...otherLanguages().map(
      ([language, name]): Command => ({
        label: t.palette.language(name),
        hint: t.palette.setting,
        action: { kind: 'language', language },
      }),
    ),
  ]
}

function without(search: Record<string, string>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(search).filter(([key]) => key !== name && key !== 'page'))
}
