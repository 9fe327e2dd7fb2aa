/** The limits by which a list chooses how its matches are found and counted. */
export const scanLimits = {
  /**
   * Matches that are found by index and sorted, about 1 µs each. Beyond, an ordered scan is used; if only one in
   * `rareMatchesFactor` records matches, it is given up after a budget of at least `scannedRecordsMin` records.
   */
  filterSortRecordsMax: 20_000,
  rareMatchesFactor: 10,
  scannedRecordsMin: 2_000,
  /** Records that say whether more match a filter or fewer: 2 ms, before a count that takes from 10 ms to seconds. */
  countSampleRecords: 128,
  /** Conditions of a filter whose complement may be counted instead: the statement has both, and PostgreSQL plans both. */
  complementConditionsMax: 64,
} as const
