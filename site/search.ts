import MiniSearch, { type Options, type SearchOptions, type SearchResult } from 'minisearch'

/**
 * The search of the pages: VitePress' dialog imports it in the place of `minisearch`, with the index that VitePress has built. The
 * options of its own configuration cannot contain functions: the browser would have to evaluate their text, which the
 * Content-Security-Policy rejects.
 */

/** Words of a question that say nothing about its answer. */
const emptyWords = new Set(
  'a about an and are as at be by can could do does find for from get has have how i if in into is it me my need of on or our out should so that the their them then there this to use using want was we what when where which who why will with would you your'.split(
    ' ',
  ),
)

/** Sections of one page that are listed before those of other pages. */
const sectionsMax = 2

/** Parts of the documents that name everything, or that few readers look for: they would hide those that explain it. */
const weights: readonly (readonly [part: RegExp, weight: number])[] = [
  [/\/operating\/limits\.html|\/api\.html#(?:codes|endpoints)/, 0.1],
  [/\/(?:adr|acceptance|bench|chaos|verification)\/|\/(?:architecture|contributing)\.html/, 0.3],
  // The entry of a page, with the words of the navigation.
  [/^[^#]*$/, 3],
]

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
    const page = pageOf(result.id)
    const count = (counts.get(page) ?? 0) + 1
    counts.set(page, count)
    if (count <= sectionsMax) first.push(result)
    else rest.push(result)
  }
  return [...first, ...rest]
}

/**
 * A section that has more of the words comes first, and so does one whose page has the others: questions have words that any page
 * may lack, so none is required.
 */
function rank(results: readonly SearchResult[]): SearchResult[] {
  const ofPage = new Map<string, Set<string>>()
  for (const { id, queryTerms } of results) {
    ofPage.set(pageOf(id), new Set([...(ofPage.get(pageOf(id)) ?? []), ...queryTerms]))
  }
  const scored = results.map((result) => {
    const coverage = result.queryTerms.length ** 2 * (ofPage.get(pageOf(result.id))?.size ?? 1)
    return { ...result, score: result.score * coverage }
  })
  return scored.toSorted((one, other) => other.score - one.score)
}

const pageOf = (id: unknown) => String(id).replace(/#.*$/, '')

interface SearchIndex {
  search(question: string): SearchResult[]
}

export default {
  loadJSON(json: string, options: Options): SearchIndex {
    const index = MiniSearch.loadJSON(json, options)
    const searchOptions: SearchOptions = {
      prefix: true,
      // Short words have too many neighbours.
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      boost: { title: 4, text: 2, titles: 1 },
      boostDocument: (id) => weights.find(([part]) => part.test(String(id)))?.[1] ?? 1,
    }
    return { search: (question) => spread(rank(index.search(termsOf(question), searchOptions))) }
  },
}
