import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { collections } from '../../api/catalog.ts'
import { deletionsQuery, type ResourceName, readFeed } from '../../api/changes.ts'
import { addPosition, forgetPositions, positionFor, readPositions } from '../../lib/changes/positions.ts'
import { countText } from '../../lib/changes/since.ts'
import { grouped } from '../../lib/format.ts'
import { exactTime } from '../../lib/time.ts'

interface DeletedListProps {
  readonly resource: ResourceName
  readonly since: string
}

const shown = 500

/** The records that were deleted since a time, as far as this browser knows a position of the feed from then. */
export function DeletedList({ resource, since }: DeletedListProps) {
  const [position, setPosition] = useState(() => positionFor(readPositions(resource), since))
  const { data, error } = useQuery(deletionsQuery(resource, position))
  const { plural } = collections[resource]
  useEffect(() => {
    // The cursor expired, or the browser was used with another account of this host.
    if (error === null) return
    forgetPositions(resource)
    setPosition(undefined)
  }, [error, resource])
  useEffect(() => {
    if (position !== undefined) return undefined
    const abort = new AbortController()
    readFeed(resource, { since: 'now', signal: abort.signal }).then(
      ({ cursor }) => addPosition(resource, { at: new Date().toISOString(), cursor }),
      () => {},
    )
    return () => abort.abort()
  }, [position, resource])
  if (position === undefined) {
    return (
      <section aria-label="Deleted">
        <h2>Deleted</h2>
        <p className="dim">
          The service knows deletions by position, not by time. This browser remembers positions from now on,
          one for each hour in which you open a list of {plural}; later this page shows what was deleted since
          then.
        </p>
      </section>
    )
  }
  const ids = data?.ids ?? []
  const isLate = Date.parse(position.at) > Date.parse(since)
  return (
    <section aria-label="Deleted">
      <h2>{data === undefined ? 'Deleted' : `${countText(ids.length, collections[resource])} deleted`}</h2>
      <p className="dim">
        Since {exactTime(position.at)}
        {isLate
          ? ', from when on this browser knows the positions of the feed. Earlier deletions are not shown.'
          : ', the last position before the time that you chose.'}
        {data?.isComplete === false && ' Newer deletions follow: too many records have changed since.'}
      </p>
      {ids.length > 0 && <p className="deleted-ids">{ids.slice(0, shown).join(', ')}</p>}
      {ids.length > shown && <p className="dim">And {grouped(ids.length - shown)} more.</p>}
    </section>
  )
}
