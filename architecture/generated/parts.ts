import type { ViewName } from '../../server/src/catalog/views.ts'
import { commands } from './commands.ts'
import { endpoints } from './endpoints.ts'
import { codesIn, codesOfErrors } from './errors.ts'
import { records, viewFields } from './fields.ts'
import {
  limitsOfAccounts,
  limitsOfCommands,
  limitsOfFilters,
  limitsOfProcesses,
  limitsOfRequests,
} from './limits.ts'
import { metrics } from './metrics.ts'
import { secretFiles, settings } from './settings.ts'

/** A part of a document that is written from the code: what is between `<!-- generated: NAME -->` and `<!-- /generated -->`. */
export interface Part {
  readonly file: string
  readonly name: string
  readonly text: () => string | Promise<string>
}

const fieldsOf = (file: string, name: string, view: ViewName, described: readonly string[] = []): Part => ({
  file: `docs/reference/${file}`,
  name,
  text: () => viewFields(view, described),
})

export const parts: readonly Part[] = [
  { file: 'docs/api.md', name: 'endpoints', text: endpoints },
  { file: 'docs/reference/records.md', name: 'records', text: records },
  fieldsOf('account.md', 'key fields', 'key'),
  fieldsOf('account.md', 'audit fields', 'audit'),
  fieldsOf('account.md', 'request fields', 'request'),
  fieldsOf('account.md', 'usage fields', 'usage'),
  fieldsOf('webhooks.md', 'webhook fields', 'webhook', ['resource', 'url', 'filter', 'fields']),
  fieldsOf('webhooks.md', 'delivery fields', 'delivery'),
  fieldsOf('fields.md', 'own fields', 'field', ['resource', 'name', 'type', 'label', 'unique']),
  { file: 'docs/reference/errors.md', name: 'error codes', text: codesOfErrors },
  {
    file: 'docs/reference/errors.md',
    name: 'fault codes',
    text: () => codesIn((place, code) => /^errors of a \d/.test(place) && !code.startsWith('filter_')),
  },
  {
    file: 'docs/reference/errors.md',
    name: 'delivery codes',
    text: () => codesIn((place) => place.includes('webhook deliveries')),
  },
  { file: 'docs/reference/commands.md', name: 'commands', text: commands },
  {
    file: 'docs/filter-language.md',
    name: 'filter codes',
    text: () => codesIn((_, code) => code.startsWith('filter_')),
  },
  { file: 'docs/filter-language.md', name: 'filter limits', text: limitsOfFilters },
  { file: 'docs/operating/configure.md', name: 'settings', text: settings },
  { file: 'docs/operating/configure.md', name: 'secret files', text: secretFiles },
  { file: 'docs/operating/watch.md', name: 'metrics', text: metrics },
  { file: 'docs/operating/limits.md', name: 'limits of requests', text: limitsOfRequests },
  { file: 'docs/operating/limits.md', name: 'limits of accounts', text: limitsOfAccounts },
  { file: 'docs/operating/limits.md', name: 'limits of processes', text: limitsOfProcesses },
  { file: 'docs/operating/limits.md', name: 'limits of commands', text: limitsOfCommands },
]

const marked = /<!-- generated: ([^>]*) -->\n[\s\S]*?<!-- \/generated -->/g

/** The names of the generated parts of a document, in their order. */
export const namesIn = (document: string) => [...document.matchAll(marked)].map(([, name = '']) => name)

/** The document with the parts of this file as the code has them now. */
export async function written(file: string, document: string): Promise<string> {
  const texts = new Map<string, string>()
  for (const part of parts.filter((one) => one.file === file)) texts.set(part.name, await part.text())
  return document.replaceAll(marked, (_, name: string) => {
    const text = texts.get(name)
    if (text === undefined) throw new Error(`${file}: nothing generates ${name}.`)
    return `<!-- generated: ${name} -->\n\n${text}\n\n<!-- /generated -->`
  })
}
