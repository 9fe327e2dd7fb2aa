import type { Resource } from '../catalog/resources.ts'
import type { AccountScope } from '../scope.ts'
import { isValidPosition, type Lineages, positionOfEtag } from '../tally-state.ts'
import type { Run } from './batch-writes.ts'
import type { FoldContext, RepeatedId } from './repeated-ids.ts'
import { versions } from './statements.ts'

interface Conditional {
  readonly scope: AccountScope
  readonly resource: Resource
  readonly repeated: readonly RepeatedId[]
  /** The ids that records have. */
  readonly existing: ReadonlySet<string>
}

/** Whether an ETag is that of a stored record. The caller holds the lock of the tally, so no version changes until the batch is written. */
export async function storedEtags(
  run: Run,
  { scope, resource, repeated, existing }: Conditional,
  tally: Lineages,
): Promise<FoldContext['isStored']> {
  const conditional = repeated.filter(({ lines }) => lines.some(({ ifMatch }) => ifMatch !== undefined))
  const ids = conditional.map(({ id }) => id).filter((id) => existing.has(id))
  if (ids.length === 0) return () => false
  const { rows } = await run<{ id: string; version: string }>(versions(scope, resource, ids))
  const stored = new Map(rows.map(({ id, version }) => [id, version]))
  return (etag, id) => {
    const position = positionOfEtag(etag, id)
    return position !== undefined && isValidPosition(tally, position) && stored.get(id) === position.version
  }
}
