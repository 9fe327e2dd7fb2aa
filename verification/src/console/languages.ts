import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { collections } from '../../../console/src/api/catalog.ts'
import type { Check } from '../check.ts'
import { messageOf } from '../runner.ts'
import { type ConsoleFixture, consoleFixture } from './fixture.ts'
import { type PageTexts, pageTexts } from './page-texts.ts'
import { type View, views } from './views.ts'

const texts = fileURLToPath(new URL('../../../console/src/texts/', import.meta.url))
const locales = { en: 'en-GB', de: 'de-DE' } as const
const widths = [1280, 390]

/**
 * Every page and dialog in every language, on a screen and on a phone: each word is one of the dictionary of the language, a
 * technical name, or data that the service sent; and no text is cut or covers another one.
 */
export const languages: Check = {
  name: 'languages',
  bound: '0 missing, cut or overlapping',
  async run(context) {
    const fixture = await consoleFixture(context)
    const all = { ...views, ...(await moreViews(fixture)) }
    const findings = new Map<string, string>()
    let looked = 0
    for (const language of ['en', 'de'] as const) {
      const known = wordsOf(language)
      const look = async (page: Page, name: string, sent: ReadonlySet<string>) => {
        for (const width of widths) {
          await page.setViewportSize({ width, height: width === 390 ? 844 : 800 })
          const found = await page.evaluate<PageTexts>(pageTexts)
          const at = `${name}, ${language}, ${width}`
          for (const one of faultsOf(found, (word) => known.has(word) || sent.has(word)))
            if (!findings.has(one)) findings.set(one, at)
          looked += 1
        }
        await page.setViewportSize({ width: 1280, height: 800 })
      }
      await fixture.withPage({ locale: locales[language] }, async (page) => {
        await page.goto(`${fixture.origin}/console`)
        await page.getByRole('main').getByRole('button').first().waitFor()
        await look(page, 'sign-in', new Set(['acme', 'localhost', String(fixture.server.port)]))
      })
      await fixture.withPage({ locale: locales[language], key: fixture.readerKey }, async (page) => {
        await page.goto(`${fixture.origin}/console/keys`)
        await page.getByRole('alert').waitFor()
        await look(page, 'a page for administrators', new Set(['acme']))
      })
      await fixture.withPage({ locale: locales[language], key: fixture.key }, async (page) => {
        const sent = collectWords(page)
        for (const [name, { path, until }] of Object.entries(all)) {
          await page.goto(`${fixture.origin}/console${path}`)
          try {
            await until(page)
          } catch (error) {
            findings.set(`not opened: ${messageOf(error).slice(0, 200)}`, `${name}, ${language}`)
            continue
          }
          await look(page, name, sent)
        }
      })
    }
    return {
      value: `${findings.size} on ${looked} pages`,
      samples: looked,
      ok: findings.size === 0,
      ...(findings.size === 0
        ? {}
        : {
            note: [...findings]
              .slice(0, 100)
              .map(([one, at]) => `${at}: ${one}`)
              .join('\n'),
          }),
    }
  },
}

function faultsOf(
  { texts: shown, cut, overlapping }: PageTexts,
  isKnown: (word: string) => boolean,
): string[] {
  const foreign = shown.flatMap((text) => {
    const words = splitWords(text).filter((word) => !isKnown(word))
    return words.length === 0 ? [] : [`not in the dictionary: ${words.join(' ')} in "${text.slice(0, 120)}"`]
  })
  return [...foreign, ...cut.map((one) => `cut: ${one}`), ...overlapping.map((one) => `overlap: ${one}`)]
}

function splitWords(text: string): string[] {
  return (text.match(/\p{L}[\p{L}\p{N}]+/gu) ?? []).map((word) => word.toLowerCase())
}

/** The words of the texts of a language, of what the browser says in it, and technical names. */
function wordsOf(language: 'en' | 'de'): ReadonlySet<string> {
  const folder = `${texts}${language}/`
  const source = readdirSync(folder).map((file) => readFileSync(`${folder}${file}`, 'utf8'))
  const literals = source.flatMap(
    (text) => text.match(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`[^`]*`/g) ?? [],
  )
  const catalog = Object.values(collections).flatMap(({ path, fields }) => [
    path,
    ...fields.flatMap(({ name, type }) => [name, type]),
    ...(language === 'en' ? fields.map(({ description }) => description) : []),
  ])
  return new Set([...literals, ...catalog, ...spoken(language), ...technical].flatMap(splitWords))
}

/** Relative times, months and days of the week. */
function spoken(language: 'en' | 'de'): string[] {
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
  const units = ['second', 'minute', 'hour', 'day', 'month', 'year'] as const
  const times = units.flatMap((unit) => [-5, -1, 0, 1, 5].map((count) => relative.format(count, unit)))
  const days = Array.from({ length: 7 }, (_, day) => new Date(2026, 10, 1 + day))
  const months = Array.from({ length: 12 }, (_, month) => new Date(2026, month, 1))
  return [
    ...times,
    ...days.flatMap((day) => [
      day.toLocaleString(language, { weekday: 'short' }).slice(0, 2),
      day.toLocaleString(language, { weekday: 'long' }),
    ]),
    ...months.map((month) => month.toLocaleString(language, { month: 'long' })),
  ]
}

/** Names that are the same in every language. */
const technical = [
  'qm com Esc English Deutsch Quartermaster curl TypeScript Python Node PHP URL ETag NDJSON UTC KB MB ms KEY WEBHOOK_SECRET true false null',
  'and or revoke name bolt R D categ_id list_price active trading gmbh p50 p95 p99 webhook test challenge changes API https',
  'GET POST PATCH DELETE QUERY PUT OPTIONS HEAD api manage v1 inventory resources openapi json status key operator',
]

/** The words of everything that the service sends to a page. The document with the descriptions of fields is not data. */
function collectWords(page: Page): ReadonlySet<string> {
  const words = new Set<string>([
    'acme',
    'products',
    'csv',
    'colour',
    'anchor',
    'bolt',
    'cheap',
    'red',
    'blue',
  ])
  page.on('response', (response) => {
    const { pathname } = new URL(response.url())
    if (!/^\/(?:api|manage)\//.test(pathname)) return
    void response.json().then(
      (body: unknown) => addWords(body, words),
      () => {},
    )
  })
  return words
}

function addWords(value: unknown, words: Set<string>): void {
  if (typeof value === 'string') for (const word of splitWords(value)) words.add(word)
  else if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) addWords(member, words)
}

/** Panels and dialogs of what an administrator has created. */
async function moreViews(fixture: ConsoleFixture): Promise<Readonly<Record<string, View>>> {
  const keyId = await fixture.post('/manage/v1/keys', { name: 'Webshop', scopes: ['product:read'] })
  const field = { resource: 'product', name: `x_dict_${Date.now()}`, type: 'text', label: 'Status' }
  const fieldId = await fixture.post('/manage/v1/fields', field)
  const webhookId = await fixture.post('/manage/v1/webhooks', {
    resource: 'product',
    url: fixture.receiver.url,
  })
  await fetch(`http://127.0.0.1:${fixture.server.port}/manage/v1/webhooks/${webhookId}/activate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${fixture.key}` },
  })
  const panel = async (page: Page) =>
    await page.getByRole('complementary').getByRole('term').first().waitFor()
  const dialog = async (page: Page) => await page.getByRole('dialog').getByRole('button').nth(1).waitFor()
  const opened = (index: number) => async (page: Page) => {
    await page.getByRole('grid').getByRole('row').nth(1).waitFor()
    await page.locator('.page-head [aria-haspopup]').nth(index).click()
    await page.locator('[role=menu], [role=dialog]').first().waitFor()
  }
  return {
    'a key': { path: `/keys?record=${keyId}`, until: panel },
    'rotate a key': { path: `/keys?record=${keyId}&dialog=rotate`, until: dialog },
    'revoke a key': { path: `/keys?record=${keyId}&dialog=revoke`, until: dialog },
    'a field': { path: `/fields?record=${encodeURIComponent(fieldId)}`, until: panel },
    'label a field': { path: `/fields?record=${encodeURIComponent(fieldId)}&dialog=label`, until: dialog },
    'delete a field': { path: `/fields?record=${encodeURIComponent(fieldId)}&dialog=delete`, until: dialog },
    'a webhook': { path: `/webhooks?record=${webhookId}`, until: panel },
    'edit a webhook': { path: `/webhooks?record=${webhookId}&dialog=edit`, until: dialog },
    'rotate a secret': { path: `/webhooks?record=${webhookId}&dialog=rotate`, until: dialog },
    'replay changes': { path: `/webhooks?record=${webhookId}&dialog=replay`, until: dialog },
    'delete a webhook': { path: `/webhooks?record=${webhookId}&dialog=delete`, until: dialog },
    columns: { path: '/products', until: opened(0) },
    views: { path: '/products', until: opened(1) },
    copy: { path: '/products', until: opened(2) },
    export: { path: '/products', until: opened(3) },
    'a logged request': {
      path: '/requests?filter=status=400',
      until: async (page) => {
        await page.getByRole('grid').getByRole('row').nth(1).click()
        await page.getByRole('complementary').getByRole('term').first().waitFor()
      },
    },
    'an unknown page': {
      path: '/nowhere',
      until: async (page) => await page.getByRole('heading').first().waitFor(),
    },
  }
}
