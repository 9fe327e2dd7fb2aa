import type { Collection } from '../../api/catalog.ts'
import { isOwnName } from '../../api/own-fields.ts'
import type { ListParameters } from './records-search.ts'

/** The request of a view for other programs. The key is always the variable KEY. */

export const formats = ['URL', 'curl', 'TypeScript', 'Python'] as const
export type Format = (typeof formats)[number]

export function urlOf(origin: string, { path }: Collection, parameters: ListParameters): string {
  const query = present(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return `${origin}${path}${query.length === 0 ? '' : `?${query.join('&')}`}`
}

export function requestText(
  format: Format,
  origin: string,
  collection: Collection,
  parameters: ListParameters,
): string {
  switch (format) {
    case 'URL':
      return urlOf(origin, collection, parameters)
    case 'curl':
      return curlOf(origin, collection, parameters)
    case 'TypeScript':
      return typescriptOf(origin, collection, parameters)
    case 'Python':
      return pythonOf(origin, collection, parameters)
    default:
      return format satisfies never
  }
}

function curlOf(origin: string, { path }: Collection, parameters: ListParameters): string {
  const data = present(parameters).map(
    ([name, value]) => `  --data-urlencode ${shell(`${name}=${value}`)} \\\n`,
  )
  return `curl -G -H "Authorization: Bearer $KEY" \\\n${data.join('')}  ${shell(origin + path)}`
}

function typescriptOf(origin: string, collection: Collection, parameters: ListParameters): string {
  const { plural, name } = collection
  if (name !== 'product' && name !== 'partner' && name !== 'company') {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a template of the program that is shown
    const headers = 'headers: { authorization: `Bearer ${process.env.KEY}` }'
    const url = script(urlOf(origin, collection, parameters))
    return `const response = await fetch(\n  ${url},\n  { ${headers} },\n)\nconst { data, meta } = await response.json()`
  }
  const { filter, fields, search, sort, page, limit } = parameters
  const options = [
    ...(fields === undefined ? [] : [`  fields: [${fields.split(',').map(script).join(', ')}],\n`]),
    ...(filter === undefined ? [] : [`  filter: ${script(filter)},\n`]),
    ...(search === undefined ? [] : [`  search: ${script(search)},\n`]),
    ...(sort === undefined ? [] : [`  sort: ${script(sort)},\n`]),
    ...(page === undefined ? [] : [`  page: ${page},\n`]),
    ...(limit === undefined ? [] : [`  limit: ${limit},\n`]),
  ]
  const hasOwn = fields?.split(',').some(isOwnName) === true
  return [
    "import { Quartermaster } from '@quartermaster/client'",
    ...(hasOwn
      ? [
          `// quartermaster types --url ${shell(origin)} < key.txt > fields.ts`,
          "import { fields } from './fields.ts'",
        ]
      : []),
    '',
    `const qm = new Quartermaster({ baseUrl: ${script(origin)}, apiKey: process.env.KEY ?? ''${hasOwn ? ', fields' : ''} })`,
    `const page = await qm.${plural}.list({\n${options.join('')}})`,
    'console.log(page.meta.total, page.data)',
  ].join('\n')
}

function pythonOf(origin: string, { path }: Collection, parameters: ListParameters): string {
  const entries = present(parameters).map(([name, value]) => `    ${python(name)}: ${python(value)},\n`)
  return [
    'import json, os, urllib.parse, urllib.request',
    '',
    `query = urllib.parse.urlencode({\n${entries.join('')}})`,
    'request = urllib.request.Request(',
    `    ${python(`${origin}${path}?`)} + query,`,
    '    headers={"Authorization": "Bearer " + os.environ["KEY"]},',
    ')',
    'page = json.load(urllib.request.urlopen(request))',
    'print(page["meta"]["total"], page["data"])',
  ].join('\n')
}

function present(parameters: ListParameters): readonly (readonly [string, string])[] {
  return Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  )
}

/** Within single quotes, a shell interprets nothing. */
function shell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function script(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`
}

/** Every JSON string is a Python string. */
function python(text: string): string {
  return JSON.stringify(text)
}
