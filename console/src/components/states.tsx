import type { Collection } from '../api/catalog.ts'
import { adviceOf } from '../lib/advice.ts'
import { grouped } from '../lib/format.ts'
import { useOnline } from '../lib/online.ts'
import type { RecordsSearch } from '../lib/records/records-search.ts'
import { clockTime } from '../lib/time.ts'
import { t } from '../texts/texts.ts'
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
        <b>{t.list.ownFieldsFailed}</b>
        <p>
          {t.list.withoutOwnFields} {adviceOf(problem.code)}
        </p>
        <p>{problem.detail}</p>
      </div>
      <Button size="xs" variant="default" onClick={onRetry}>
        {t.common.tryAgain}
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
        <b>{isOffline ? t.list.offline : problem.title}</b>
        <p>
          {t.list.loadedAt(clockTime(since))} {isOffline ? t.list.offlineAdvice : adviceOf(problem.code)}
        </p>
      </div>
      <Button size="xs" variant="default" onClick={onRetry}>
        {t.common.tryAgain}
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
  const { one, many } = t.nouns[collection.name]
  if (total > 0) {
    return (
      <div className="state" role="status">
        <h2>{t.list.beyond}</h2>
        <p>{t.list.fewerPages(grouped(total), t.nouns[collection.name].many, search.page)}</p>
        <div className="actions">
          <Button size="xs" onClick={() => onChange({ page: undefined })}>
            {t.list.firstPage}
          </Button>
        </div>
      </div>
    )
  }
  if (search.filter !== undefined) {
    return (
      <div className="state" role="status">
        <Icon name="filter" size={22} />
        <h2>{t.list.noMatch(one, many)}</h2>
        <p>{t.list.noMatchAdvice}</p>
        <div className="actions">
          <Button
            size="xs"
            variant="default"
            onClick={() => onChange({ filter: undefined, page: undefined })}
          >
            {t.list.removeFilter}
          </Button>
        </div>
      </div>
    )
  }
  if (search.search !== undefined) {
    return (
      <div className="state" role="status">
        <Icon name="search" size={22} />
        <h2>{t.list.noneWith(one, many, search.search)}</h2>
        <p>{t.list.searchMeaning}</p>
        <div className="actions">
          <Button
            size="xs"
            variant="default"
            onClick={() => onChange({ search: undefined, page: undefined })}
          >
            {t.list.removeSearch}
          </Button>
        </div>
      </div>
    )
  }
  return (
    <div className="state" role="status">
      <Icon name="box" size={22} />
      <h2>{t.list.noneYet(many)}</h2>
      <p>{emptyText(collection)}</p>
      {canCreate && (
        <div className="actions">
          <Button size="xs" onClick={() => onChange({ dialog: 'create' })}>
            {t.record.createTitle(one)}
          </Button>
        </div>
      )}
    </div>
  )
}

function emptyText({ name }: Collection): string {
  if (name === 'product' || name === 'partner' || name === 'company') return t.list.emptyResource
  if (name === 'field') return t.list.emptyField
  if (name === 'webhook') return t.list.emptyWebhook
  if (name === 'delivery') return t.list.emptyDelivery
  if (name === 'request') return t.list.emptyRequest
  return t.list.emptyOther
}
