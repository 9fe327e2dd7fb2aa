import type { Resource } from '../catalog/resources.ts'
import type { AccountScope } from '../scope.ts'
import { isValidPosition, type Lineages, positionOfEtag } from '../tally-state.ts'
import type { Run } from './batch-writes.ts'
import type { FoldContext } from './fold.ts'
import { versions } from './statements.ts'

/**
 * Whether an ETag is that of a stored record. `ids`: the records that rows with a condition may name. The caller holds the lock of the
 * tally, so no version changes until the batch is written.
 */
export async function storedEtags(
  run: Run,
  scope: AccountScope,
  resource: Resource,
  { ids, tally }: { readonly ids: readonly string[]; readonly tally: Lineages },
): Promise<FoldContext['isStored']> {
  if (ids.length === 0) return () => false
  const { rows } = await run<{ id: string; version: string }>(versions(scope, resource, ids))
  const stored = new Map(rows.map(({ id, version }) => [id, version]))
  return (etag, id) => {
    const position = positionOfEtag(etag, id)
    return position !== undefined && isValidPosition(tally, position) && stored.get(id) === position.version
  }
}
