/** The limits of imports, batches and archives, which are part of `limits`. */
export const bulkLimits = {
  /** Rows of an import that are written, and counted in the tally, in one transaction: about 0.5 s of the account's write lock. */
  importBatchRows: 10_000,
  /** Characters of such a transaction's rows: 10,000 rows usually have 1.5 MB. Rows of the longest texts would have 40 MB. */
  importBatchCharacters: 4 * 1024 * 1024,
  /** Rows of a batch over HTTP that are written in one transaction: below 0.1 s of the account's write lock, and before-images of all. */
  batchRows: 1_000,
  /** Fewer rows, if a transaction of them takes longer than this: its timeout is 5 s, and `outcome_unknown` would follow. */
  batchTransactionMs: 1_500,
  batchRowsMin: 50,
  /** Bytes of a batch that are parsed at once, and lines: a blank line of CSV takes up to 50 µs. */
  batchSliceBytes: 1024,
  batchSliceLines: 100,
  /** Other requests are served after this time of parsing. */
  batchSliceMs: 5,
  /** A batch ends after this number of rejected rows, about 0.5 s of CPU time: more have the same cause. */
  batchRejectedRowsMax: 10_000,
  /** Decompressed bytes per byte of a gzip body, beyond the first `batchFreeBytes`: records compress to a tenth. */
  batchExpansionMax: 200,
  batchFreeBytes: 16 * 1024 * 1024,
  /** A batch as one JSON object, which is held in memory: 1,000 rows of 1 KB, as many as one transaction writes. */
  batchJsonBytesMax: 1024 * 1024,
  /** Faults of a rejected row that its result line lists. */
  batchFaultsMax: 10,
  /** Results that a batch with `Batch-Results: at-end` holds in memory: 5,000 rejected rows of 200 bytes, and 16 MB for all batches in flight. */
  batchHeldBytesMax: 1024 * 1024,
  /** Cells of a CSV row, each about 0.5 µs: a row with more cells than columns is rejected, but first parsed. */
  importCellsMax: 100,
  /** Blank lines of a file, which are skipped: up to 50 µs each in CSV. */
  importBlankLinesMax: 10_000,
  /** What follows `{"$delete":` in a row that names its record by a unique field: 512 characters, each escaped as `\u0000`, and more. */
  importDeleteCharactersMax: 4_096,
  /** The end marker of an export. */
  importEndCharactersMax: 1_000,
  /** Share of the records that `import --replace` deletes without `--max-delete`: a file that lacks more is probably truncated. */
  importDeletePercentMax: 10,
  /** One line of an import file. */
  importLineBytesMax: 1024 * 1024,
  /** Rows of an archive that one statement restores, usually about 2 MB of JSON, and their characters: lines of 1 MB would have 5 GB. */
  archiveBatchRows: 5_000,
  archiveBatchCharacters: 4 * 1024 * 1024,
} as const
