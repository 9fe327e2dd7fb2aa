import MiniSearch, { type Options, type SearchResult } from 'minisearch'

/**
 * The search of the pages: VitePress' dialog imports it in the place of `minisearch`, with the index that VitePress has built. The
 * options of its own configuration cannot contain functions: the browser would have to evaluate their text, which the
 * Content-Security-Policy rejects.
 */

/** Words of a question that say nothing about its answer. */
const emptyWords = new Set(
  'a an and are as at be by can do does for from get has have how i if in into is it me my need of on or our so that the their them then there this to use using want was we what when where which who why will with you your'.split(
    ' ',
  ),
)

/** Sections of one page that are listed before those of other pages. */
const sectionsMax = 2

/** The words to look for; all of them if nothing else is left, such as `or`. */
export function termsOf(question: string): string {
  const words = question.trim().split(/\s+/)
  const telling = words.filter((word) => !emptyWords.has(word.toLowerCase()))
  return (telling.length === 0 ? words : telling).join(' ')
}

/** Best first, but a page with many sections does not fill the list. */
export function spread<Result extends { readonly id: string }>(results: readonly Result[]): Result[] {
  const counts = new Map<string, number>()
  const [first, rest]: [Result[], Result[]] = [[], []]
  for (const result of results) {
    const page = String(result.id).replace(/#.*$/, '')
    const count = (counts.get(page) ?? 0) + 1
    counts.set(page, count)
    if (count <= sectionsMax) first.push(result)
    else rest.push(result)
  }
  return [...first, ...rest]
}

interface SearchIndex {
  search(question: string): SearchResult[]
}

export default {
  loadJSON(json: string, options: Options): SearchIndex {
    const index = MiniSearch.loadJSON(json, options)
    return { search: (question) => spread(index.search(termsOf(question))) }
  },
}
