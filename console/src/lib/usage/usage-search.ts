import type { Search } from '../search.ts'

/** The parameters of the usage page. */
export interface UsageSearch extends Search {
  /** `minute`, or days. */
  readonly per?: string | undefined
  /** How far back: one of `rangesOf`. */
  readonly range?: string | undefined
  /** The part of the range that the charts are zoomed to, as date-times. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** Only this key. */
  readonly key?: string | undefined
  /** Only this route. */
  readonly route?: string | undefined
}
