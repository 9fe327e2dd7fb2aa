import type { Collection } from '../api/catalog.ts'
import { adviceOf } from '../lib/advice.ts'
import { grouped } from '../lib/format.ts'
import { useOnline } from '../lib/online.ts'
import type { RecordsSearch } from '../lib/records/records-search.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import { ProblemView, type ProblemViewProps } from './problem-view.tsx'

/** What a list shows instead of rows. */

export function ProblemState(props: ProblemViewProps) {
  return (
    <div className="state">
      <ProblemView {...props} />
    </div>
  )
}

/** Above the rows, which are shown without the fields that the account has declared. */
export function OwnFieldsProblem({ problem, onRetry }: ProblemViewProps) {
  return (
    <div className="notice list-notice" data-tone="warn" role="alert">
      <div>
        <b>This account's fields could not be loaded</b>
        <p>The list is shown without them. {adviceOf(problem.code)}</p>
        <p>{problem.detail}</p>
      </div>
      <Button size="xs" variant="default" onClick={onRetry}>
        Try again
      </Button>
    </div>
  )
}

interface OutageProps extends ProblemViewProps {
  /** When the rows were loaded, in milliseconds. */
  readonly since: number
}

/** Above the rows of an earlier response, which could not be loaded again. */
export function Outage({ problem, since, onRetry }: OutageProps) {
  const isOffline = !useOnline()
  return (
    <div className="notice list-notice" data-tone="warn" role="alert">
      <div>
        <b>{isOffline ? 'You are offline.' : problem.title}</b>
        <p>
          These rows were loaded at {new Date(since).toLocaleTimeString('en-GB')}.{' '}
          {isOffline ? 'They are loaded again when you are back online.' : adviceOf(problem.code)}
        </p>
      </div>
      <Button size="xs" variant="default" onClick={onRetry}>
        Try again
      </Button>
    </div>
  )
}

interface EmptyStateProps {
  readonly collection: Collection
  readonly search: RecordsSearch
  readonly total: number
  /** Whether the key may create a record. */
  readonly canCreate: boolean
  readonly onChange: (change: Partial<RecordsSearch>) => void
}

export function EmptyState({ collection, search, total, canCreate, onChange }: EmptyStateProps) {
  if (total > 0) {
    return (
      <div className="state" role="status">
        <h2>This page is beyond the last one</h2>
        <p>
          {grouped(total)} {collection.plural} match, on fewer pages than {search.page}.
        </p>
        <div className="actions">
          <Button size="xs" onClick={() => onChange({ page: undefined })}>
            Go to the first page
          </Button>
        </div>
      </div>
    )
  }
  if (search.filter !== undefined) {
    return (
      <div className="state" role="status">
        <Icon name="filter" size={22} />
        <h2>No {collection.noun} matches the filter</h2>
        <p>Remove a condition, or widen a value. Texts with = are compared exactly; * finds them anywhere.</p>
        <div className="actions">
          <Button
            size="xs"
            variant="default"
            onClick={() => onChange({ filter: undefined, page: undefined })}
          >
            Remove the filter
          </Button>
        </div>
      </div>
    )
  }
  if (search.search !== undefined) {
    return (
      <div className="state" role="status">
        <Icon name="search" size={22} />
        <h2>
          No {collection.noun} has “{search.search}”
        </h2>
        <p>A search finds records in which each word occurs in some text field, in upper or lower case.</p>
        <div className="actions">
          <Button
            size="xs"
            variant="default"
            onClick={() => onChange({ search: undefined, page: undefined })}
          >
            Remove the search
          </Button>
        </div>
      </div>
    )
  }
  return (
    <div className="state" role="status">
      <Icon name="box" size={22} />
      <h2>No {collection.plural} yet</h2>
      <p>{emptyText(collection)}</p>
      {canCreate && (
        <div className="actions">
          <Button size="xs" onClick={() => onChange({ dialog: 'create' })}>
            Create a {collection.noun}
          </Button>
        </div>
      )}
    </div>
  )
}

function emptyText({ name }: Collection): string {
  if (name === 'product' || name === 'partner' || name === 'company')
    return 'Create one here or over the API, or import a file with quartermaster import.'
  if (name === 'field') return 'Declare a field for what your records need besides those of the service.'
  if (name === 'webhook') return 'A webhook sends each change of a resource to your program.'
  if (name === 'delivery') return 'Messages to webhooks appear here, for 14 days.'
  if (name === 'request') return 'Requests appear a second or two after their response.'
  return 'Entries appear here when something happens.'
}
