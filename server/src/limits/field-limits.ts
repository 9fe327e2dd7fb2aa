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
  /** Records whose values become keys in one transaction, about 7 µs each: 40 ms of the account's write lock. */
  keyStepRecords: 5_000,
  /** A request that writes ends within this time, even if it waits for locks. The first unique field of an account is built after it. */
  keyFenceSeconds: 30,
  /** How long a request that makes a field unique waits for its values: the rest is built in the background. */
  keyBuildMsMax: 3_000,
  /** Values that several records have, and records of each, that an error lists. */
  duplicatesListed: 5,
  duplicateIdsListed: 3,
  /**
   * Records of which a step writes the values: 0.1 s for ten values each. The values of a field are marked where they are missing, if at
   * least this share of the first and last records of the account has one.
   */
  valueStepRecords: 1_000,
  denseSampleRecords: 1_000,
  denseShareMin: 0.95,
  /** Changed records up to which the table of values answers a filter: evaluating them takes 20 ms. */
  staleValuesMax: 10_000,
  /** Above this number, a filter has them written. */
  staleValuesMin: 100,
  /** Rows that are removed in one transaction if the table must be written again. */
  removedValuesStep: 10_000,
  /** Accounts and resources whose values a process knows to be written, and those that wait until they are. */
  valueIndexesKnown: 10_000,
  valueIndexesWaiting: 1_000,
  valuePauseMsMin: 20,
  /** How long `quartermaster types` waits for a document of about 200 KB. */
  typesTimeoutMs: 30_000,
  /** The values of a deleted field stay for as long as a request that began before may read them: longer than any read or export. */
  dropDelayMinutes: 60,
} as const
