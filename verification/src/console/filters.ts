import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Filter, parse, print } from '@quartermaster/filter'
import type { Page } from 'playwright-core'
import { collections, operatorsOf } from '../../../console/src/api/catalog.ts'
import type { Check } from '../check.ts'
import { Random } from '../random.ts'
import { consoleFixture } from './fixture.ts'
import { untilParameter } from './journey.ts'

const { fields } = collections.product
const texts = [
  'bolt',
  'R&D',
  'a,b',
  'say "hi"',
  'C:\\temp',
  ' x ',
  'null',
  '=5',
  '5" pipe',
  'smile :)',
  'ü|ö',
  '50%',
]
const valuesOf: Readonly<Record<string, readonly string[]>> = {
  text: texts.map((text) => print(parse(`name=${JSON.stringify(text)}`)).slice('name='.length)),
  integer: ['1', '42', '-7'],
  decimal: ['0.5', '12.50', '1e3'],
  boolean: ['true', 'false'],
  timestamp: ['2026-11-14', '2026-11-14T09:30:00Z'],
}

function randomFilter(random: Random, depth: number): string {
  if (depth > 0 && random.chance(0.45)) {
    const join = random.chance(0.5) ? '&' : '|'
    const terms = Array.from({ length: 2 + random.integer(0, 1) }, () => randomFilter(random, depth - 1))
    return terms.map((term) => (random.chance(0.6) ? `(${term})` : term)).join(join)
  }
  const field = random.pick(fields)
  const operator = random.pick(operatorsOf[field.type])
  const value = () => random.pick(valuesOf[field.type] ?? [])
  if (operator === '[]' || operator === '![]')
    return `${field.name}${operator.slice(0, -1)}${value()},${value()}]`
  return `${field.name}${operator}${value()}`
}

async function typeFilter(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Filter' }).click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(text)
  await page.keyboard.press('Enter')
}

/** Types random filters as text, changes each twice with the chips, and compares what is left with what was typed. */
export const filterRoundtrip: Check = {
  name: 'filter_roundtrip',
  bound: '0 changed',
  async run(context) {
    const fixture = await consoleFixture(context)
    const random = new Random(context.seed)
    const count = context.size(500, 12)
    const progress = context.progress('filters', count)
    const changed: string[] = []
    await fixture.withPage({ key: fixture.key }, async (page) => {
      await page.goto(`${fixture.origin}/console/products?fields=id&limit=1`)
      await page.locator('[contenteditable=true]').waitFor()
      for (let i = 0; i < count; i++) {
        const text = randomFilter(random, 3)
        const expected = print(parse(text))
        await typeFilter(page, text)
        await untilParameter(page, 'filter', text)
        // The first chip is opened and applied unchanged: the filter is now the text of the chips.
        await page
          .getByRole('button', { name: /^Edit / })
          .first()
          .click()
        await page.getByRole('dialog', { name: 'Condition' }).getByRole('button', { name: 'Apply' }).click()
        await page
          .waitForURL((url) => isSame(url.searchParams.get('filter'), expected))
          .catch(() => changed.push(`${text} → ${page.url()}`))
        progress.step()
      }
    })
    progress.end()
    return {
      value: `${changed.length} of ${count}`,
      samples: count,
      ok: changed.length === 0,
      note: changed.slice(0, 10).join('\n'),
    }
  },
}

function isSame(filter: string | null, expected: string): boolean {
  return filter === expected && same(parse(filter), parse(expected))
}

function same(one: Filter, other: Filter): boolean {
  return print(one) === print(other)
}

/** The filters of the documentation that have a syntax error, and filters with errors that only the service finds. */
function wrongFilters(): string[] {
  const file = fileURLToPath(new URL('../../../docs/filter-language.md', import.meta.url))
  const blocks = readFileSync(file, 'utf8').matchAll(/```filter-error\n([^`]*)```/g)
  const documented = [...blocks].flatMap(([, block = '']) => block.split('\n').filter((line) => line !== ''))
  return [
    ...documented,
    // In SQL and OData, as in the table of the page.
    'name like bolt',
    "name like '%bolt%' and list_price gt 10",
    'categ_id in (3, 7)',
    'categ_id is null',
    'list_price between 1 and 5',
    "contains(name,'bolt')",
    'name="Hex" and active=true',
    'list_prise>10',
    'active=true&nope=1&nada=2',
    'name>5',
    'active=yes',
    'id=1.5',
    'list_price>abc&active=true',
    'create_date>yesterday',
    'name*',
    'list_price>null',
    'id[1,x,3]',
  ]
}

/** Evaluated in the page: the offsets of the underlined ranges in the text of the filter. */
const underlined = `(() => {
  const root = [...document.querySelectorAll('*')].find((one) => one.shadowRoot?.querySelector('.cm-content')).shadowRoot
  const content = root.querySelector('.cm-content')
  return [...root.querySelectorAll('.cm-lintRange-error')].map((mark) => {
    const range = document.createRange()
    range.setStart(content, 0)
    range.setEndBefore(mark)
    return range.toString().length
  })
})()`

/** Every error that the service reports in a filter is underlined at the offset that it reports. */
export const errorOffsets: Check = {
  name: 'error_offsets',
  bound: '0 elsewhere',
  async run(context) {
    const fixture = await consoleFixture(context)
    const filters = wrongFilters()
    const wrong: string[] = []
    await fixture.withPage({ key: fixture.key }, async (page) => {
      for (const text of filters) {
        const { body } = await fixture.get(
          `/api/v1/inventory/product?limit=50&filter=${encodeURIComponent(text)}`,
        )
        const { errors }: { errors: { offset: number }[] } = JSON.parse(body)
        await page.goto(`${fixture.origin}/console/products?filter=${encodeURIComponent(text)}`)
        await page.getByRole('alert').waitFor()
        await page.locator('[contenteditable=true]').waitFor()
        // An error at the end of the text underlines the last character.
        const expected = new Set(errors.map(({ offset }) => Math.min(offset, text.length - 1)))
        const matches = async () => {
          const shown = await page.evaluate<number[]>(underlined)
          return shown.length > 0 && [...expected].every((offset) => shown.includes(offset))
        }
        for (let tries = 0; tries < 100 && !(await matches()); tries++) await page.waitForTimeout(50)
        if (!(await matches())) {
          wrong.push(
            `${text}: ${[...expected].join()} but ${(await page.evaluate<number[]>(underlined)).join()}`,
          )
        }
      }
    })
    return {
      value: `${wrong.length} of ${filters.length}`,
      samples: filters.length,
      ok: wrong.length === 0,
      note: wrong.join('\n'),
    }
  },
}
