import '../styles/import.css'
import { NativeSelect, SegmentedControl, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { accessQuery } from '../api/access.ts'
import { Button } from '../components/button.tsx'
import { ChangedList } from '../components/changes/changed-list.tsx'
import { DeletedList } from '../components/changes/deleted-list.tsx'
import { Icon } from '../components/icon.tsx'
import { type ChangesSearch, sinceChoices, sinceTime } from '../lib/changes/since.ts'
import { usePageTitle } from '../lib/page-title.ts'
import { t } from '../texts/texts.ts'

const route = getRouteApi('/changes')
const resources = ['product', 'partner', 'company'] as const

/** What was created, changed and deleted since a time. */
export function ChangesPage() {
  usePageTitle(t.pages.changes)
  const search = route.useSearch()
  const navigate = useNavigate()
  const { data: access } = useQuery(accessQuery)
  const queryClient = useQueryClient()
  const [refreshedAt, setRefreshedAt] = useState(Date.now)
  const refresh = () => {
    setRefreshedAt(Date.now())
    void queryClient.invalidateQueries({ queryKey: ['changed'] })
    void queryClient.invalidateQueries({ queryKey: ['deletions'] })
  }
  const since = search.since ?? 'today'
  const time = useMemo(() => sinceTime(since, refreshedAt), [since, refreshedAt])
  const resource = resources.find((name) => name === search.resource) ?? resources[0]
  const go = (change: Partial<ChangesSearch>) =>
    void navigate({ to: '/changes', search: { ...search, ...change } })
  const isChoice = sinceChoices.some((value) => value === since)
  return (
    <>
      <header className="page-head">
        <h1>{t.pages.changes}</h1>
        <NativeSelect
          size="xs"
          aria-label={t.common.records}
          data={resources.map((name) => ({ value: name, label: t.pages[name] }))}
          value={resource}
          onChange={(event) => go({ resource: event.target.value })}
        />
        <span className="spacer" />
        <Button
          variant="default"
          aria-label={t.common.refresh}
          icon={<Icon name="rotate" size={14} />}
          onClick={refresh}
        >
          <span className="label">{t.common.refresh}</span>
        </Button>
      </header>
      <div className="import">
        <div className="import-options">
          <SegmentedControl
            size="xs"
            aria-label={t.changes.sinceLabel}
            data={sinceOptions()}
            value={isChoice ? since : 'time'}
            onChange={(value) => go({ since: value === 'time' ? localMinute(time) : value })}
          />
          {!isChoice && (
            <TextInput
              size="xs"
              type="datetime-local"
              aria-label={t.changes.sinceTime}
              value={since}
              error={time === undefined ? t.changes.notATime : undefined}
              onChange={(event) => go({ since: event.target.value })}
            />
          )}
        </div>
        {time !== undefined && (
          <div key={`${resource} ${time}`}>
            <ChangedList resource={resource} since={time} isAdministrator={access?.manage === true} />
            <DeletedList resource={resource} since={time} />
          </div>
        )}
      </div>
    </>
  )
}

function sinceOptions() {
  return [...sinceChoices, 'time' as const].map((value) => ({ value, label: t.changes.since[value] }))
}

/** "2026-11-19T08:30" in the time zone of the browser, as the field for a time has it. */
function localMinute(time: string | undefined): string {
  const at = time === undefined ? new Date() : new Date(time)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
