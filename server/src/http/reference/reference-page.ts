import { openApi } from '../openapi/document.ts'
import { escaped, markdown } from './markdown.ts'
import { hashSource, noIcon, type Page, pageOf } from './page.ts'
import { boundsOf, membersOf, referred, type SchemaNode, typeOf } from './schemas-html.ts'
import { referenceStyle } from './style.ts'
import { testRequest } from './test-request.ts'

interface Ref {
  readonly $ref?: string
}

interface Parameter extends Ref {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: SchemaNode
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value?: unknown }>>
}

interface Media {
  readonly schema?: SchemaNode
  readonly example?: unknown
}

type Content = Readonly<Record<string, Media>>

interface Answer extends Ref {
  readonly description: string
  readonly content?: Content
}

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly security?: readonly unknown[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, Answer>>
  readonly 'x-codeSamples'?: readonly { readonly label: string; readonly source: string }[]
  readonly 'x-export'?: Content
  readonly 'x-stream-body'?: Content
  readonly 'x-stream-response'?: Content
}

type Operations = Readonly<Record<string, Readonly<Record<string, Operation>>>>

interface ApiDocument {
  readonly info: { readonly summary: string; readonly description: string }
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Operations
  readonly webhooks: Operations
  readonly components: {
    readonly parameters: Readonly<Record<string, Parameter>>
    readonly responses: Readonly<Record<string, Answer>>
    readonly schemas: Readonly<Record<string, SchemaNode>>
  }
}

/** An operation with its place. */
interface Entry {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

/** The page with every operation, written from the document: complete without its script, which only sends test requests. */
export async function referencePage(): Promise<Page> {
  const policy = [
    "default-src 'none'",
    `script-src ${hashSource(testRequest)}`,
    `style-src ${hashSource(referenceStyle)}`,
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
  // Its parts are typed by what emits them, which is wider than what the page reads.
  const document: ApiDocument = JSON.parse(JSON.stringify(openApi))
  return await pageOf('text/html; charset=utf-8', htmlOf(document), policy)
}

export function htmlOf(api: ApiDocument): string {
  const entries = entriesOf(api.paths)
  const messages = entriesOf(api.webhooks)
  const tags = api.tags.map(({ name, description }) => ({
    name,
    description,
    entries: entries.filter(({ operation }) => operation.tags.includes(name)),
  }))
  const link = (href: string, text: string) => `<li><a href="${href}">${escaped(text)}</a></li>`
  const linksOf = (all: readonly Entry[]) =>
    all.map(({ operation: { operationId, summary } }) => link(`#${operationId}`, summary)).join('')
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="referrer" content="no-referrer">
<title>API reference · Quartermaster</title>${noIcon}<style>${referenceStyle}</style></head>
<body><nav aria-label="Reference"><ul>${link('/console', 'Console')}${link('/docs/', 'Documentation')}${link('/reference/errors', 'Errors')}${link('/openapi.json', 'OpenAPI document')}</ul>
${tags.map(({ name, entries: own }) => `<details open><summary>${escaped(name)}</summary><ul>${linksOf(own)}</ul></details>`).join('\n')}
<details open><summary>Webhook messages</summary><ul>${linksOf(messages)}</ul></details><ul>${link('#models', 'Models')}</ul></nav>
<main><h1>API reference</h1><p>${escaped(api.info.summary)}</p>
${markdown(api.info.description, 2)}
${tags.map(({ name, description, entries: own }) => `<h2>${escaped(name)}</h2>${markdown(description)}${own.map((entry) => operationOf(api, entry)).join('\n')}`).join('\n')}
<h2>Webhook messages</h2>${messages.map((entry) => operationOf(api, entry, true)).join('\n')}
<h2 id="models">Models</h2>
${Object.entries(api.components.schemas).map(modelOf).join('\n')}
</main><script>${testRequest}</script></body></html>
`
}

function entriesOf(all: Operations): Entry[] {
  return Object.entries(all).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
}

function operationOf(api: ApiDocument, { method, path, operation }: Entry, isMessage = false): string {
  const { operationId, summary, description, requestBody } = operation
  const parameters = (operation.parameters ?? []).map((one) => resolved(api.components.parameters, one))
  const answers = Object.entries(operation.responses).map(
    ([status, answer]) => [status, resolved(api.components.responses, answer)] as const,
  )
  const samples = (operation['x-codeSamples'] ?? []).map(
    ({ label, source }) => `<h4>${escaped(label)}</h4><pre tabindex="0">${escaped(source)}</pre>`,
  )
  return `<section data-method="${method}" data-path="${escaped(path)}"${operation.security?.length === 0 ? ' data-public' : ''}><h3 id="${operationId}">${escaped(summary)}</h3>
${isMessage ? '' : `<p class="path"><span>${method}</span><code>${escaped(path)}</code></p>`}
${description === undefined ? '' : markdown(description)}
${parametersOf(parameters)}
${contentOf('Body', requestBody?.content)}${contentOf('Body as a stream', operation['x-stream-body'])}
<h4>Responses</h4>${answersOf(answers)}
${contentOf('Response to a stream', operation['x-stream-response'])}${contentOf('Export', operation['x-export'])}
${samples.join('\n')}
${isMessage ? '' : '<details class="try"><summary>Test request</summary></details>'}</section>`
}

function resolved<T extends Ref>(all: Readonly<Record<string, T>>, one: T): T {
  return one.$ref === undefined ? one : (all[referred(one.$ref)] ?? one)
}

/** The script reads the parameters from this table. */
function parametersOf(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return ''
  const rows = parameters.map((parameter) => {
    const { name, in: place, required = false, description = '', schema } = parameter
    const [first] = Object.values(parameter.examples ?? {})
    const example = parameter.example ?? first?.value
    const shown = example === undefined ? '' : ` Example: ${shownExample(textOf(example))}`
    return `<tr data-name="${escaped(name)}" data-in="${place}"${required ? ' data-required' : ''}><td><code>${escaped(name)}</code> <small>${place}${required ? ', required' : ''}</small></td><td>${typeOf(schema)}</td><td>${markdown(description)} ${boundsOf(schema)}${shown}</td></tr>`
  })
  return `<h4>Parameters</h4><div class="table"><table><thead><tr><th>Name</th><th>Type</th><th>Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}

function contentOf(title: string, content: Content | undefined): string {
  if (content === undefined) return ''
  const parts = Object.entries(content).map(([type, { schema, example }]) => {
    const description = schema?.description === undefined ? '' : markdown(schema.description)
    return `<p><code>${escaped(type)}</code>${schema?.$ref === undefined ? '' : `: ${typeOf(schema)}`}</p>${description}${exampleOf(type, example, title === 'Body')}`
  })
  return `<h4>${title}</h4>${parts.join('')}`
}

function exampleOf(type: string, example: unknown, isBody = false): string {
  if (example === undefined) return ''
  return `<pre tabindex="0"${isBody ? ` data-body="${escaped(type)}"` : ''}>${escaped(textOf(example))}</pre>`
}

/** One that is wider than a phone is scrolled, not broken. */
function shownExample(text: string): string {
  const isWide = text.split(/\s/).some((word) => word.length > 30)
  return isWide ? `<pre tabindex="0">${escaped(text)}</pre>` : `<code>${escaped(text)}</code>.`
}

function textOf(example: unknown): string {
  return typeof example === 'string' ? example : JSON.stringify(example, null, 2)
}

function answersOf(answers: readonly (readonly [string, Answer])[]): string {
  const rows = answers.map(([status, { description, content = {} }]) => {
    const models = Object.values(content).flatMap(({ schema }) =>
      schema === undefined ? [] : [typeOf(schema)],
    )
    return `<tr><td><code>${status}</code></td><td>${[...new Set(models)].join(', ')}</td><td>${markdown(description)}</td></tr>`
  })
  const examples = answers.flatMap(([, { content = {} }]) =>
    Object.entries(content).map(([type, { example }]) => exampleOf(type, example)),
  )
  return `<div class="table"><table><thead><tr><th>Status</th><th>Model</th><th>Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>${examples.join('')}`
}

function modelOf([name, schema]: readonly [string, SchemaNode]): string {
  const members = membersOf(schema)
  return `<section><h3 id="model-${escaped(name)}">${escaped(name)}</h3>${schema.description === undefined ? '' : markdown(schema.description)}${members === '' ? `<p>${typeOf(schema)}</p>` : members}</section>`
}
