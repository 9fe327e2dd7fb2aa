/** The limits of summaries, which are part of `limits`. */
export const summaryLimits = {
  /** Fields by which a summary groups: a table on a screen has rows and columns. */
  summaryGroupFieldsMax: 2,
  /** Groups of a summary: as many as records of a page. */
  summaryGroupsMax: 1000,
  /** Sums, minima, maxima and averages of a summary, about 0.1 µs each for each record. */
  summaryMeasuresMax: 20,
  /** Groups that are cached to be carried to later versions, about 50 bytes each. */
  summaryCacheBytesMax: 16 * 1024 * 1024,
  /** Responses that were counted in the background and cannot be carried, of up to 1,000 groups each. They wait for a repeated request. */
  countedSummariesMax: 20,
  /** From this number of records on they are carried: to read fewer takes as long. */
  summaryCarriedRecordsMin: 5_000,
  /** If a summary has too many groups, they are counted for this long, for the message. */
  summaryCountMsMax: 2_000,
} as const
