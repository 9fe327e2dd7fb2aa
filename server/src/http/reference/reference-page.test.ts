import { expect, test } from 'vitest'
import { openApi } from '../openapi/document.ts'
import { markdown } from './markdown.ts'
import { referencePage } from './reference-page.ts'

const { body, gzipped, policy } = await referencePage()
const html = body.toString()
const [page = '', script = ''] = html.split('<script>')

test('every operation and every model has a section, and every link to one leads there', () => {
  const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
  const operations = Object.values(openApi.paths).flatMap((methods) => Object.keys(methods))
  expect(operations.length).toBeGreaterThan(50)
  expect(page.match(/<section data-method=/g)).toHaveLength(
    operations.length + Object.keys(openApi.webhooks).length,
  )
  for (const name of Object.keys(openApi.components.schemas)) expect(ids).toContain(`model-${name}`)
  for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target)
})

test('the Markdown of no description is left', () => {
  const text = page.replaceAll(/<code>.*?<\/code>|<pre[^>]*>[\s\S]*?<\/pre>/g, '')
  expect(text).not.toMatch(/\*\*|\]\(|`|^\||^- |undefined|\[object/m)
})

test('markup in a description is text', () => {
  expect(markdown('a <b> `<i>` **"c"** [d](/e)')).toBe(
    '<p>a &lt;b&gt; <code>&lt;i&gt;</code> <strong>&quot;c&quot;</strong> <a href="/e">d</a></p>',
  )
  expect(markdown('Intro:\n- a\n- b\n\n## T\n\n| A | B |\n|---|---|\n| `x` | y |')).toBe(
    '<p>Intro:</p><ul><li>a</li><li>b</li></ul>\n<h3>T</h3>\n<div class="table"><table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td><code>x</code></td><td>y</td></tr></tbody></table></div>',
  )
})

test('the page is small, and its script is the only one that the policy allows', () => {
  expect(gzipped.length).toBeLessThan(60_000)
  expect(policy).toMatch(/script-src 'sha256-[^']+';/)
  expect(script).toContain('</script></body></html>')
  expect(script.split('</script>')).toHaveLength(2)
})
