import { limits } from './limits/limits.ts'

/**
 * Who assigns the ids of an account's resource: this service or another system. `unassigned`: nobody yet; the first write decides.
 * A property of the tally, so that every writer sees it under the lock.
 */
export type IdSource = 'unassigned' | 'service' | 'external'

/** The columns of a tally that say it. */
export interface IdColumns {
  readonly last_id: string
  /** The last id that this service assigned from 2^32 on. Null unless another system assigns ids. */
  readonly own_last_id: string | null
  readonly sender_ids_from: string
  readonly service_ids: boolean
}

export function idSourceOf({
  own_last_id: ownLastId,
  last_id: lastId,
  service_ids: serviceIds,
}: Pick<IdColumns, 'own_last_id' | 'last_id' | 'service_ids'>): IdSource {
  if (ownLastId !== null) return 'external'
  return serviceIds || lastId !== '0' ? 'service' : 'unassigned'
}

/** The ids that the other system may assign. Empty if this service assigns them all. */
export interface IdRange {
  readonly from: number
  readonly to: number
}

export function senderIds(tally: IdColumns): IdRange {
  if (idSourceOf(tally) === 'service') return { from: 1, to: 0 }
  return { from: Number(tally.sender_ids_from), to: limits.externalIdMax }
}
