export type StopReason =
  | 'database_changed'
  | 'restored'
  | 'companies_shrank'
  | 'rights_shrank'
  | 'too_many_deletes'
  | 'key_expires'
  | 'key_refused'
  | 'mapping_invalid'
  | 'target_refused'

/** The connector ends, and changes nothing before a person has decided: `wayOn` says what the choices are. */
export class Stop extends Error {
  override name = 'Stop'
  readonly reason: StopReason
  readonly wayOn: string

  constructor(reason: StopReason, message: string, wayOn: string) {
    super(message)
    this.reason = reason
    this.wayOn = wayOn
  }
}

/**
 * The most records of a resource that one sweep may delete: 1 %, but up to 10 of a small resource, and never more than half of it, unless it
 * has one record.
 */
export function deletesMax(known: number): number {
  return Math.max(Math.ceil(known / 100), Math.min(10, Math.floor(known / 2)))
}
