import type { Collection, Field } from '../../api/catalog.ts'
import type { Row } from '../../api/read.ts'
import { plainText } from '../format.ts'

/** Words instead of a filter: a person types "nordwind" and expects every record in which it occurs. */

/** What joins or compares in a filter. */
const syntax = /[=<>*![\]()&|]/

/** The words to search for; undefined if the text is a filter, or the beginning of one. Quotes make words of any text. */
export function searchOf(text: string): string | undefined {
  const trimmed = text.trim()
  const quoted = /^"([^"]+)"$/.exec(trimmed)?.[1]?.trim()
  if (quoted !== undefined && quoted !== '') return quoted
  return trimmed === '' || trimmed.includes('"') || syntax.test(trimmed) ? undefined : trimmed
}

export function wordsOf(search: string): readonly string[] {
  return search.split(/\s+/).filter((word) => word !== '')
}

export interface Reason {
  readonly field: Field
  readonly text: string
}

/** The fields besides the name in which words occur that the name does not have. Empty if the name explains the match. */
export function reasonsOf({ fields }: Collection, row: Row, words: readonly string[]): readonly Reason[] {
  const texts = fields
    .filter(({ type }) => type === 'text')
    .map((field) => ({ field, text: plainText(row[field.name]) }))
  const found = words.flatMap((word) => {
    const fits = texts.filter(({ text }) => folded(text).includes(folded(word)))
    return fits.some(({ field }) => field.name === 'name') ? [] : fits.slice(0, 1)
  })
  return [...new Set(found)]
}

export interface Part {
  readonly text: string
  readonly isMatch: boolean
}

/** A text in parts, of which some are the words. */
export function partsOf(text: string, words: readonly string[]): readonly Part[] {
  const lower = folded(text)
  // Folding may change the length of some letters: then the places are not known.
  if (lower.length !== text.length) return [{ text, isMatch: false }]
  const marked = Array.from({ length: text.length }, () => false)
  for (const word of words.map(folded).filter((one) => one !== '')) {
    for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + 1))
      marked.fill(true, at, at + word.length)
  }
  const parts: Part[] = []
  let from = 0
  for (let at = 1; at <= text.length; at++) {
    if (at < text.length && marked[at] === marked[from]) continue
    parts.push({ text: text.slice(from, at), isMatch: marked[from] === true })
    from = at
  }
  return parts
}

function folded(text: string): string {
  return text.toLowerCase()
}
