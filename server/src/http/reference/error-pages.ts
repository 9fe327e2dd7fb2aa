import { type ErrorCode, errorCodes, errorTitles, Failure } from '../../errors/errors.ts'
import { problemOf, unknownField } from '../openapi/parts.ts'
import { retryAfterSeconds, statusOf } from '../problem.ts'
import { type DetailText, detailTexts } from './detail-texts.ts'
import { errorTexts } from './error-texts.ts'
import { escaped } from './markdown.ts'
import { hashSource, noIcon, type Page, pageOf } from './page.ts'

const style = `body{max-width:44rem;margin:3rem auto;padding:0 1rem;font:16px/1.5 system-ui,sans-serif;color:#1b1b1f;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}code,pre{font:14px/1.5 ui-monospace,monospace}
pre{padding:1rem;overflow-x:auto;background:#f4f4f6;border-radius:6px}a{color:#0b57d0}td,th{padding:.2rem 1rem .2rem 0;vertical-align:top;text-align:left}
@media(max-width:599px){thead{display:none}tr{display:block;margin-bottom:.8rem}td{display:inline}td:last-child{display:block}}
@media(prefers-color-scheme:dark){body{color:#e6e6ea;background:#17171a}pre{background:#232328}a{color:#8ab4f8}}`

const policy = `default-src 'none'; img-src data:; style-src ${hashSource(style)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** A page per code: its meaning, what to do, and an example. The `type` of every error links to it, and the console to all. */
export async function errorPages(): Promise<ReadonlyMap<string, Page>> {
  const texts = [
    ...errorCodes.map((code) => [code, errorPage(code)] as const),
    ...Object.entries(detailTexts).map(([code, text]) => [code, detailPage(code, text)] as const),
  ]
  const pages = texts.map(async ([code, text]) => [code, await pageOf(html, text, policy)] as const)
  return new Map(await Promise.all(pages))
}

/** A list of all codes with links to their pages. */
export function errorIndex(): Promise<Page> {
  const byStatus = errorCodes.toSorted((a, b) => statusOf[a] - statusOf[b])
  const rows = byStatus.map(
    (code) =>
      `<tr><td>${statusOf[code]}</td><td><a href="/reference/errors/${code}"><code>${code}</code></a></td><td>${escaped(errorTitles[code])}</td></tr>`,
  )
  const details = Object.entries(detailTexts).map(
    ([code, { cause, place }]) =>
      `<tr><td><a href="/reference/errors/${code}"><code>${code}</code></a></td><td>${escaped(cause)}</td><td>${escaped(place)}</td></tr>`,
  )
  const body = `<p><a href="/reference">Reference</a></p>
<h1>Errors</h1>
<p>Every error is <code>application/problem+json</code> (RFC 9457). Programs should use <code>code</code>, whose meaning never changes.</p>
<table><thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead><tbody>${rows.join('\n')}</tbody></table>
<h2>Other codes</h2>
<table><thead><tr><th>Code</th><th>Meaning</th><th>Appears in</th></tr></thead><tbody>${details.join('\n')}</tbody></table>`
  return pageOf(html, documentOf('Errors', body), policy)
}

const html = 'text/html; charset=utf-8'

function errorPage(code: ErrorCode): string {
  const { when, remedy } = errorTexts[code]
  const retry = retryAfterSeconds[code]
  const body = `<p><a href="/reference">Reference</a> › <a href="/reference/errors">Errors</a></p>
<h1><code>${code}</code> (${statusOf[code]})</h1>
<p><strong>${escaped(errorTitles[code])}</strong></p>
<h2>When</h2>
<p>${escaped(when)}</p>
<h2>What to do</h2>
<p>${escaped(remedy)}</p>
${retry === undefined ? '' : `<p>The response has <code>Retry-After: ${retry}</code>.</p>`}
<h2>Example</h2>
<pre>HTTP/1.1 ${statusOf[code]}
Content-Type: application/problem+json; charset=utf-8

${escaped(exampleOf(code))}</pre>`
  return documentOf(code, body)
}

function detailPage(code: string, { place, cause, remedy }: DetailText): string {
  const body = `<p><a href="/reference">Reference</a> › <a href="/reference/errors">Errors</a></p>
<h1><code>${code}</code></h1>
<p><strong>${escaped(cause)}</strong></p>
<h2>Where it appears</h2>
<p>In ${escaped(place)}.</p>
<h2>What to do</h2>
<p>${escaped(remedy)}</p>`
  return documentOf(code, body)
}

function exampleOf(code: ErrorCode): string {
  const fault = unknownField('product')
  const failure =
    code === 'request_invalid'
      ? new Failure(code, fault.message, [fault])
      : new Failure(code, errorTitles[code])
  return JSON.stringify(problemOf(failure), null, 2)
}

function documentOf(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${title} · Quartermaster</title>${noIcon}<style>${style}</style></head>
<body>${body}</body></html>
`
}
