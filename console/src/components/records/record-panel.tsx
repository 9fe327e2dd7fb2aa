import { ActionIcon, Tooltip } from '@mantine/core'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Collection, Field } from '../../api/catalog.ts'
import { problemFrom, type Read } from '../../api/exchange.ts'
import { type Row, recordQuery, type Value } from '../../api/read.ts'
import { labelOf, meaningOf } from '../../lib/labels.ts'
import { usePanelFocus } from '../../lib/panel-focus.ts'
import { csvOf } from '../../lib/records/csv.ts'
import { rowJson } from '../../lib/records/record-json.ts'
import type { RecordWrite } from '../../lib/records/use-records.ts'
import { t } from '../../texts/texts.ts'
import { Button } from '../button.tsx'
import { CopyButton } from '../copy-button.tsx'
import { Icon } from '../icon.tsx'
import { ProblemView } from '../problem-view.tsx'
import { valueView } from '../value-view.tsx'
import { EditRecord } from './edit-record.tsx'
import { type Saved, SavedNote } from './saved-note.tsx'

export interface RecordPanelProps {
  readonly collection: Collection
  readonly id: string
  /** The row of the list, shown until the record is loaded. */
  readonly row: Row | undefined
  readonly onClose: () => void
  readonly onStep: (by: 1 | -1) => void
  readonly onFilter: (field: Field, value: Value) => void
  /** Undefined if the key may not change the record. */
  readonly write: RecordWrite | undefined
  /** Shown before and after the fields. */
  readonly before?: (record: Row | undefined) => React.ReactNode
  readonly after?: (record: Row | undefined) => React.ReactNode
}

/** All fields of one record. */
export function RecordPanel(props: RecordPanelProps) {
  const { collection, id, row, onClose, onStep, write } = props
  const query = useQuery(recordQuery(collection.name, id))
  const heading = usePanelFocus()
  const [saved, setSaved] = useState<Saved>()
  const record = query.data?.body ?? row
  const { one } = t.nouns[collection.name]
  const title = titleOf(collection, record) ?? `${one} ${id}`
  return (
    <aside className="panel" aria-label={t.record.panel(one, id)}>
      <header className="panel-head">
        <h2 ref={heading} tabIndex={-1} aria-live="polite" title={title}>
          {title}
        </h2>
        <Step label={t.record.previous(one)} icon="up" onClick={() => onStep(-1)} />
        <Step label={t.record.next(one)} icon="down" onClick={() => onStep(1)} />
        <Step label={t.common.close} icon="close" onClick={onClose} />
      </header>
      {write?.isEditing === true && query.data !== undefined ? (
        <EditRecord
          key={id}
          name={write.name}
          collection={collection}
          id={id}
          read={query.data}
          onSaved={setSaved}
          onClose={write.onEnd}
        />
      ) : (
        <>
          {write !== undefined && saved?.id === id && (
            <SavedNote name={write.name} saved={saved} onUndone={setSaved} />
          )}
          <Shown {...props} query={query} record={record} />
        </>
      )}
    </aside>
  )
}

interface ShownProps extends RecordPanelProps {
  readonly query: UseQueryResult<Read<Row>>
  readonly record: Row | undefined
}

function Shown({ collection, query, record, onFilter, write, before, after }: ShownProps) {
  return (
    <>
      <div className="panel-body">
        {before?.(query.data?.body)}
        {query.error !== null ? (
          <ProblemView problem={problemFrom(query.error)} onRetry={() => void query.refetch()} />
        ) : (
          <dl className="record">
            {collection.fields.map((field) => (
              <div key={field.name}>
                <dt title={meaningOf(field, collection.name)}>{labelOf(field)}</dt>
                <dd>
                  {record === undefined ? (
                    <span className="skeleton" />
                  ) : (
                    valueView(field, record[field.name])
                  )}
                  <FilterBy field={field} value={record?.[field.name]} onFilter={onFilter} />
                </dd>
              </div>
            ))}
          </dl>
        )}
        {after?.(query.data?.body)}
      </div>
      {record !== undefined && (
        <footer className="panel-actions">
          {write !== undefined && (
            <>
              <Button size="xs" title="e" onClick={write.onEdit}>
                {t.common.edit}
              </Button>
              <Button size="xs" variant="default" className="danger" onClick={write.onDelete}>
                {t.common.delete}
              </Button>
              <span className="spacer" />
            </>
          )}
          <CopyButton label={t.record.copyJson} text={() => rowJson(collection.fields, record)} />
          <CopyButton label={t.record.copyCsv} text={() => csvOf(collection.fields, [record])} />
        </footer>
      )}
    </>
  )
}

function titleOf({ name }: Collection, record: Row | undefined): string | undefined {
  if (record === undefined) return undefined
  const parts = titleParts[name] ?? ['name']
  const values = parts.map((part) => record[part])
  return values.includes(undefined) ? undefined : values.join(' ')
}

const titleParts: Partial<Readonly<Record<Collection['name'], readonly string[]>>> = {
  request: ['method', 'path'],
  audit: ['action', 'subject'],
  webhook: ['url'],
  delivery: ['kind', 'message_id'],
}

function Step(props: {
  readonly label: string
  readonly icon: 'up' | 'down' | 'close'
  readonly onClick: () => void
}) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={props.label}
      title={props.label}
      onClick={props.onClick}
    >
      <Icon name={props.icon} size={14} />
    </ActionIcon>
  )
}

interface FilterByProps {
  readonly field: Field
  readonly value: Value | undefined
  readonly onFilter: RecordPanelProps['onFilter']
}

function FilterBy({ field, value, onFilter }: FilterByProps) {
  if (value === undefined || Array.isArray(value)) return null
  const label = t.record.onlyWith(labelOf(field))
  return (
    <Tooltip label={label} position="left" openDelay={400}>
      <ActionIcon
        className="act"
        size={24}
        variant="subtle"
        color="gray"
        aria-label={label}
        onClick={() => onFilter(field, value)}
      >
        <Icon name="filter" size={12} />
      </ActionIcon>
    </Tooltip>
  )
}
