/** The syntax errors of a filter. Clients depend on the codes: a code is never reused with another meaning. */
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
  /** A complete sentence for the person who wrote the filter. */
  readonly message: string
  /** UTF-16 code units from the start of the filter; at most its length. */
  readonly offset: number
  readonly length: number
  /** What is expected at this position, as short phrases: `"]"`, `a field name`. */
  readonly expected: readonly string[]
  /** The complete filter, corrected, if there is one clear correction. */
  readonly suggestion?: string
}

/** The only error that `parse` throws. */
export class FilterError extends Error {
  override readonly name = 'FilterError'
  readonly problem: FilterProblem

  constructor(problem: FilterProblem) {
    super(problem.message)
    this.problem = problem
  }
}
