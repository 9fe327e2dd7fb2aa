import { expect, it } from 'vitest'
import { collections } from '../api/catalog.ts'
import { deliveryErrors } from '../api/delivery-errors.ts'
import { de } from './de.ts'
import { en } from './en.ts'

/** The texts of a dictionary by their path. A function is called with a placeholder for each parameter. */
function textsOf(dictionary: object, path = ''): [string, string][] {
  return Object.entries(dictionary).flatMap(([name, value]: [string, unknown]) => {
    const at = `${path}.${name}`
    if (typeof value === 'string') return [[at, value]]
    if (isFunction(value)) return [[at, called(value)]]
    return typeof value === 'object' && value !== null ? textsOf(value, at) : []
  })
}

function isFunction(value: unknown): value is (...args: never) => unknown {
  return typeof value === 'function'
}

const placeholders = ['<1>', '<2>', '<3>', '<4>']

function called(text: (...args: never) => unknown): string {
  try {
    return String(Reflect.apply(text, undefined, placeholders))
  } catch {
    // A function of the name of a list, or of a day.
    return String(Reflect.apply(text, undefined, ['product']))
  }
}

/** The same in both languages: terms, names of formats and programs. */
const same = new Set(
  'API CSV ID JSON NDJSON URL Cache Code Cursor Details Feld Fehler Filter Header Import in UTC Log Name Navigation Operator Partner Request Route Server-Timing Status Text Version Webhook Webhooks p50 p95 p99 (ms) (?)'.split(
    ' ',
  ),
)

it('has no text in German that is still English', () => {
  const english = new Map(textsOf(en))
  const untranslated = textsOf(de).filter(
    ([path, text]) =>
      english.get(path) === text &&
      /[a-z]{3}/i.test(text) &&
      !/^\.(?:locale|nouns|fieldLabels|time\.)/.test(path) &&
      !text.split(/[\s:,]+/).every((word) => same.has(word) || /^<\d>/.test(word)),
  )
  expect(untranslated).toEqual([])
})

it('uses every placeholder of the English text', () => {
  const used = (text: string) => placeholders.filter((placeholder) => text.includes(placeholder))
  const english = new Map(textsOf(en))
  const lost = textsOf(de).filter(([path, text]) => {
    const wanted = used(english.get(path) ?? '')
    return used(text).length < wanted.length
  })
  expect(lost.map(([path]) => path)).toEqual([
    // "Someone else changed this record": a noun would need its article.
    '.edit.someoneElse',
  ])
})

it('names and explains every field of every list in German', () => {
  for (const { name, fields } of Object.values(collections)) {
    const missing = fields.filter(
      (field) =>
        de.fieldLabels[field.name] === undefined || de.fieldMeanings[name]?.[field.name] === undefined,
    )
    expect([name, missing.map((field) => field.name)]).toEqual([name, []])
    const labels = fields.map((field) => de.fieldLabels[field.name])
    expect([name, new Set(labels).size]).toEqual([name, fields.length])
  }
})

it('calls lists in English as the catalog does, and explains every failed delivery in German', () => {
  for (const { name, noun, plural } of Object.values(collections))
    expect(en.nouns[name]).toEqual({ one: noun, many: plural })
  expect(Object.keys(de.deliveryErrors)).toEqual(Object.keys(deliveryErrors))
})

it('writes days in the order of the language', () => {
  expect([en.time.day('2026-11-19'), de.time.day('2026-11-19')]).toEqual(['2026-11-19', '19.11.2026'])
  expect([en.time.shortDay('2026-11-19'), de.time.shortDay('2026-11-19')]).toEqual(['11-19', '19.11.'])
})
