import { navigation } from '../../navigation.ts'
import { addressOf } from '../../pages.ts'

export interface AudienceData {
  readonly text: string
  readonly summary: string
  readonly hasOwnHost: boolean
  /** The addresses of its pages, the first one first. */
  readonly links: readonly string[]
}

/** VitePress replaces it by the result of `load` when it builds the site. */
export declare const data: readonly AudienceData[]

export default {
  load: (): AudienceData[] =>
    navigation.map(({ text, summary, hasOwnHost = false, sections }) => ({
      text,
      summary,
      hasOwnHost,
      links: sections.flatMap(({ pages }) => pages.map(({ file }) => `/${addressOf(file)}`)),
    })),
}
