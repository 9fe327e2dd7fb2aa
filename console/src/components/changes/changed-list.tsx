import { Button } from '@mantine/core'
import { quoted } from '@quartermaster/filter'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { collections } from '../../api/catalog.ts'
import { type ResourceName, readChanged } from '../../api/changes.ts'
import { problemFrom } from '../../api/exchange.ts'
import type { Row } from '../../api/read.ts'
import { countText } from '../../lib/changes/since.ts'
import { t } from '../../texts/texts.ts'
import { ProblemView } from '../problem-view.tsx'
import { TimeView } from '../time-view.tsx'

export const recordPages = { product: '/products', partner: '/partners', company: '/companies' } as const

interface ChangedListProps {
  readonly resource: ResourceName
  readonly since: string
  /** Whether the request log can be read, which says who it was. */
  readonly isAdministrator: boolean
}

/** The records that were created or changed since a time, the last one first. */
export function ChangedList({ resource, since, isAdministrator }: ChangedListProps) {
  const query = useInfiniteQuery({
    queryKey: [t.changes.changed, resource, since],
    queryFn: ({ pageParam, signal }) => readChanged(resource, since, pageParam, signal),
    initialPageParam: 1,
    getNextPageParam: ({ pagination }) => pagination.nextPage,
  })
  if (query.error !== null)
    return <ProblemView problem={problemFrom(query.error)} onRetry={() => void query.refetch()} />
  if (query.data === undefined) return <p className="dim">{t.common.loading}</p>
  const rows = query.data.pages.flatMap(({ data }) => data)
  const total = query.data.pages[0]?.meta.total ?? 0
  return (
    <section aria-label={t.changes.createdChanged}>
      <h2>{t.changes.createdOrChanged(countText(total, resource))}</h2>
      {rows.length > 0 && (
        <table className="table changes-table">
          <thead>
            <tr>
              <th scope="col">{t.changes.change}</th>
              <th scope="col">{t.palette.record}</th>
              <th scope="col">{t.changes.when}</th>
              {isAdministrator && <th scope="col">{t.changes.who}</th>}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <ChangedRow
                key={String(row['id'])}
                row={row}
                resource={resource}
                since={since}
                isAdministrator={isAdministrator}
              />
            ))}
          </tbody>
        </table>
      )}
      {query.hasNextPage && (
        <Button
          size="xs"
          variant="default"
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {t.changes.more}
        </Button>
      )}
    </section>
  )
}

function ChangedRow({ row, resource, since, isAdministrator }: ChangedListProps & { readonly row: Row }) {
  const id = String(row['id'])
  const isNew = Date.parse(String(row['create_date'])) >= Date.parse(since)
  const log = `path=${quoted(`${collections[resource].path}/${id}`)}&method[PATCH,POST]`
  return (
    <tr>
      <td>
        <span className="badge" data-tone={isNew ? 'ok' : 'accent'}>
          {isNew ? t.changes.created : t.changes.changed}
        </span>
      </td>
      <td>
        <Link to={recordPages[resource]} search={{ record: id }}>
          {String(row['name'])}
        </Link>{' '}
        <span className="dim">{id}</span>
      </td>
      <td>
        <TimeView value={String(row['write_date'])} />
      </td>
      {isAdministrator && (
        <td>
          <Link to="/requests" search={{ filter: log }}>
            {t.pages.request}
          </Link>
        </td>
      )}
    </tr>
  )
}
