import { FilterError, parse } from '@quartermaster/filter'
import type { Access } from '../api/access.ts'
import { type Collection, collections } from '../api/catalog.ts'
import { type OwnFields, withOwnFields } from '../api/own-fields.ts'
import { check } from '../filter/diagnostics.ts'
import type { SavedView } from './records/saved-views.ts'
import { parseSearch } from './search.ts'

/** Something that the command palette offers. All but a few are addresses: every view is its URL. */
export interface Command {
  readonly label: string
  readonly hint: string
  readonly action:
    | { readonly kind: 'go'; readonly to: string; readonly search: Record<string, string> }
    | { readonly kind: 'run'; readonly name: 'help' | 'theme' | 'sign-out' | 'reference' }
}

const recordPages = [
  ['product', '/products', 'Products'],
  ['partner', '/partners', 'Partners'],
  ['company', '/companies', 'Companies'],
] as const

const managePages = [
  ['/keys', 'Keys'],
  ['/audit', 'Audit'],
  ['/requests', 'Requests'],
  ['/usage', 'Usage'],
] as const

interface Situation {
  readonly typed: string
  /** The path and parameters of the current page. */
  readonly to: string
  readonly search: Record<string, string>
  readonly access: Access | undefined
  /** The declared fields of the account, if they are loaded. */
  readonly own: OwnFields | undefined
  readonly views: readonly SavedView[]
}

export function commandsFor(situation: Situation): readonly Command[] {
  const typed = situation.typed.trim()
  const words = typed.toLowerCase().split(/\s+/)
  const fixed = fixedCommands(situation).filter(({ label, hint }) => {
    const text = `${label} ${hint}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  return [...computed(typed, situation), ...fixed]
}

/** Commands made from what was typed: a record by its id, or a filter. */
function computed(typed: string, { access, own }: Situation): Command[] {
  const pages = recordPages.filter(([name]) => access?.[name] !== false)
  if (/^\d{1,16}$/.test(typed)) {
    return pages.map(([name, to]) => ({
      label: `Open ${collections[name].noun} ${typed}`,
      hint: 'Record',
      action: { kind: 'go', to, search: { record: typed } },
    }))
  }
  return pages
    .filter(([name]) => isFilterOf(typed, withOwnFields(collections[name], own)))
    .map(([name, to, title]) => ({
      label: `Filter ${title.toLowerCase()} by ${typed}`,
      hint: collections[name].path,
      action: { kind: 'go', to, search: { filter: typed } },
    }))
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
      .map(([, path, title]) => go(title, 'Page', path)),
    ...(access?.manage === true ? managePages.map(([path, title]) => go(title, 'Page', path)) : []),
    go('Create a partner', 'Action', '/partners', { dialog: 'create' }),
    ...(access?.manage === true ? [go('Create a key', 'Action', '/keys', { dialog: 'create' })] : []),
    ...(to === '/usage'
      ? []
      : [go('Show the request, copy or export', 'This list', to, { ...list, panel: 'request' })]),
    ...(search['filter'] === undefined
      ? []
      : [go('Remove the filter', 'This list', to, without(list, 'filter'))]),
    ...(search['fields'] === undefined
      ? []
      : [go('Show the default columns', 'This list', to, without(list, 'fields'))]),
    ...views.flatMap(({ name, page, search: saved }) => {
      const path = recordPages.find(([collection]) => collection === page)?.[1]
      return path === undefined ? [] : [go(name, 'Saved view', path, parseSearch(saved))]
    }),
    { label: 'Help: keys and operators', hint: 'Help', action: { kind: 'run', name: 'help' } },
    { label: 'Switch between light and dark', hint: 'Setting', action: { kind: 'run', name: 'theme' } },
    { label: 'Open the API reference', hint: 'Help', action: { kind: 'run', name: 'reference' } },
    { label: 'Sign out', hint: 'Action', action: { kind: 'run', name: 'sign-out' } },
  ]
}

function without(search: Record<string, string>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(search).filter(([key]) => key !== name && key !== 'page'))
}
