/** The limits of the search for an erased person's values. */
export const erasureLimits = {
  /** Rows that one step of an erasure searches in one transaction. Between turns of so long, the process does other work. */
  erasureStepRows: 2_000,
  erasureTurnMs: 5,
  /** Values of a record that are searched for, and their characters together. Of a record with more, all entries are removed. */
  erasureTermsMax: 1_000,
  erasureTermCharactersMax: 65_536,
  /** Filters that a search remembers: programs repeat theirs. */
  erasureFiltersKnown: 1_000,
  /** Erasures that a sweep continues, and those of one account, the oldest first. */
  erasuresOfSweep: 200,
  erasuresOfAccount: 20,
} as const
