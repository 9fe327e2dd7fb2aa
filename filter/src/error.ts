/** What can be wrong with the text of a filter. A code is never given another meaning. */
export type FilterErrorCode =
  | 'filter_empty'
  | 'filter_field_expected'
  | 'filter_operator_expected'
  | 'filter_quote_unclosed'
  | 'filter_escape_unfinished'
  | 'filter_list_unclosed'
  | 'filter_list_value_empty'
  | 'filter_group_unclosed'
  | 'filter_unexpected'
  | 'filter_too_many_conditions'
  | 'filter_too_many_values'
  | 'filter_too_deep'
  | 'filter_too_long'

export interface FilterProblem {
  readonly code: FilterErrorCode
  /** A whole sentence for the person who wrote the filter. */
  readonly message: string
  /** UTF-16 code units from the start of the filter; at most its length. */
  readonly offset: number
  readonly length: number
  /** What could stand there instead, each a short phrase: `"]"`, `a field name`. */
  readonly expected: readonly string[]
  /** The whole filter, corrected, where that can be told. */
  readonly suggestion?: string
}

/** The only thing that `parse` throws. */
export class FilterError extends Error {
  override readonly name = 'FilterError'
  readonly problem: FilterProblem

  constructor(problem: FilterProblem) {
    super(problem.message)
    this.problem = problem
  }
}
