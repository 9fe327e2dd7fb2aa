import type { Resource } from '../catalog/resources.ts'
import { type IdColumns, idSourceOf, senderIds } from '../id-source.ts'
import { limits } from '../limits/limits.ts'

/**
 * What the rows of a batch or an import may do.
 * * `upsert`: their ids are the sender's. A row with an unknown id inserts a record.
 * * `update`: their ids were read here, so they may be any that exist. No row inserts a record.
 * * `insert`: as `upsert`, but no row changes a record.
 * * `load`: generated records. Their ids count as assigned here.
 */
export type WriteMode = 'upsert' | 'update' | 'insert' | 'load'

/**
 * Why a row must not change or delete the record with this id. An upsert says nothing about where its ids were read, and both sides
 * count from 1. So an id that this service assigned and the same id of the sender are probably two different records. Ids from 2^32 on
 * are assigned by this service only: who sends one has read it here.
 */
function idFault(mode: WriteMode, { plural }: Resource, tally: IdColumns, id: string): string | undefined {
  if (mode === 'update' || mode === 'load') return undefined
  if (idSourceOf(tally) === 'service')
    return `is not yours: this service assigns the ids of ${plural} in this account. Send ${plural} that you read here with mode=update. If another system assigns ids, an administrator can switch with "quartermaster account ids"`
  const { from } = senderIds(tally)
  if (Number(id) >= from) return undefined
  return `is below ${from}: this service assigned those ids before another system did. Send ${plural} that you read here with mode=update`
}

/** The same for many ids: those that must not be used. */
export function idFaults(
  mode: WriteMode,
  resource: Resource,
  tally: IdColumns,
  ids: readonly string[],
): ReadonlyMap<string, string> {
  const faults = new Map<string, string>()
  for (const id of ids) {
    const reason = idFault(mode, resource, tally, id)
    if (reason !== undefined) faults.set(id, reason)
  }
  return faults
}

/** Why no record can be inserted with this id. */
export function newIdFault(
  mode: WriteMode,
  { name }: Resource,
  tally: IdColumns,
  id: string,
): string | undefined {
  if (mode === 'update') return unknownForUpdate(name)
  const isLoadedHere = mode === 'load' && idSourceOf(tally) !== 'external'
  if (isLoadedHere || Number(id) <= limits.externalIdMax) return undefined
  return `is above ${limits.externalIdMax}: this service assigns those ids, and no ${name} has it`
}

export function unknownForUpdate(name: string): string {
  return `is unknown: no ${name} has it, and mode=update inserts none`
}

/** The ids that this service assigns next, under the lock of the tally. */
export function nextIds({ own_last_id: ownLastId, last_id: lastId }: IdColumns): () => string {
  let last = BigInt(ownLastId ?? lastId)
  return () => String(++last)
}
