/** How often what is read, in seconds. ADR 0084 has the reasons. */
export interface Polling {
  /** Rows that have just been written. */
  readonly hot: number
  /** How far a hot poll begins before the last one: rows of the same second, and transactions that take this long. */
  readonly overlap: number
  /** All rows of the window again: what transactions committed after their second had been polled. */
  readonly late: number
  /** The longest transaction whose rows the late scan finds. */
  readonly window: number
  /** All keys: deletes, and records that no poll has shown. */
  readonly sweep: number
  /** A page of the rolling sweep, which reads every row. */
  readonly roll: number
  /** How long the rolling sweep may take for all rows: pages are read more often if that is needed. */
  readonly rollAll: number
}

export const defaultPolling: Polling = {
  hot: 5,
  overlap: 10,
  late: 30,
  window: 900,
  sweep: 300,
  roll: 60,
  rollAll: 86_400,
}

/** A late scan that reads many rows takes at most this share of the time: the next one waits accordingly. */
export const lateShareMax = 0.1
