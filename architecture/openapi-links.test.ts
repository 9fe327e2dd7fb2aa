import { expect, it } from 'vitest'
import { openApi } from '../server/src/http/openapi/document.ts'
import { addressOf, pages } from '../site/pages.ts'

/** Integrators get from the OpenAPI document to the documentation that the same deployment serves. */

it('the OpenAPI document links only to pages that the site has', () => {
  const links = [...JSON.stringify(openApi).matchAll(/(?<=\(|")\/docs\/[^)"\\]*/g)].map(([link]) => link)
  expect(links.length).toBeGreaterThan(8)
  const addresses = new Set(pages.map((file) => `/docs/${addressOf(file)}`))
  expect(links.filter((link) => !addresses.has(link))).toEqual([])
  expect(openApi.externalDocs.url).toBe('/docs/')
  expect(openApi.tags.filter((tag) => !('externalDocs' in tag))).toEqual([])
})
