/** The limits of the fields that accounts declare, which are part of `limits`. */
export const fieldLimits = {
  /** Fields that an account may declare for a resource: each response with all fields has them, and each is up to 2 KB of a record. */
  ownFieldsMax: 64,
  /** Characters of a value: as a name, so that a filter compares them as fast. With 64 fields the values of a record have at most 128 KB. */
  ownTextCharactersMax: 512,
  /** Characters of a label, one line for a person. */
  fieldLabelCharactersMax: 200,
  /** Accounts and resources whose fields are in memory: 64 fields take 20 KB. */
  ownFieldsCached: 1_000,
  /** Records from which the values of a deleted field are removed in one transaction: 0.1 s of the account's write lock. */
  dropStepRecords: 1_000,
  /** Fields of all accounts that a sweep checks: 5 ms. */
  droppedFieldsPage: 1_000,
  /** The values of a deleted field stay for as long as a request that began before may read them: longer than any read or export. */
  dropDelayMinutes: 60,
} as const
