import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'

import { deletionsQuery, type ResourceName, readFeed } from '../../api/changes.ts'
import { addPosition, forgetPositions, positionFor, readPositions } from '../../lib/changes/positions.ts'
import { countText } from '../../lib/changes/since.ts'
import { grouped } from '../../lib/format.ts'
import { exactTime } from '../../lib/time.ts'
import { t } from '../../texts/texts.ts'

interface DeletedListProps {
  readonly resource: ResourceName
  readonly since: string
}

const shown = 500

/** The records that were deleted since a time, as far as this browser knows a position of the feed from then. */
export function DeletedList({ resource, since }: DeletedListProps) {
  const [position, setPosition] = useState(() => positionFor(readPositions(resource), since))
  const { data, error } = useQuery(deletionsQuery(resource, position))

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
      <section aria-label={t.changes.deleted}>
        <h2>{t.changes.deleted}</h2>
        <p className="dim">{t.changes.noPosition(t.nouns[resource].many)}</p>
      </section>
    )
  }
  const ids = data?.ids ?? []
  const isLate = Date.parse(position.at) > Date.parse(since)
  return (
    <section aria-label={t.changes.deleted}>
      <h2>
        {data === undefined ? t.changes.deleted : t.changes.deletedCount(countText(ids.length, resource))}
      </h2>
      <p className="dim">
        {t.changes.sinceLabel} {exactTime(position.at)}
        {isLate ? t.changes.lateNote : t.changes.positionNote}
        {data?.isComplete === false && t.changes.incomplete}
      </p>
      {ids.length > 0 && <p className="deleted-ids">{ids.slice(0, shown).join(', ')}</p>}
      {ids.length > shown && <p className="dim">{t.common.andMore(grouped(ids.length - shown))}</p>}
    </section>
  )
}
