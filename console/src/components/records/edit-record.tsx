import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { Collection } from '../../api/catalog.ts'
import { problemFrom, type Read } from '../../api/exchange.ts'
import { type ResourceName, type Row, recordQuery } from '../../api/read.ts'
import { changeRecord } from '../../api/write.ts'
import { focusPanel } from '../../lib/panel-focus.ts'
import { draftOf, type Merged, mergedWith, patchOf, writableFields } from '../../lib/records/edit.ts'
import { useSubmit } from '../../lib/submit.ts'
import { t } from '../../texts/texts.ts'
import { ConflictView } from './conflict-view.tsx'
import { RecordFields } from './record-fields.tsx'
import type { Saved } from './saved-note.tsx'

interface EditRecordProps {
  readonly name: ResourceName
  readonly collection: Collection
  readonly id: string
  /** The version that the person saw. */
  readonly read: Read<Row>
  readonly onSaved: (saved: Saved) => void
  readonly onClose: () => void
}

/** Changes a record, unless others have changed it meanwhile: then it shows both versions. */
export function EditRecord({ name, collection, id, read, onSaved, onClose }: EditRecordProps) {
  const queryClient = useQueryClient()
  const fields = useMemo(() => writableFields(collection), [collection])
  const [version, setVersion] = useState(read)
  const base = useMemo(() => draftOf(fields, version.body), [fields, version])
  const [typed, setTyped] = useState(base)
  const [merged, setMerged] = useState<Merged>()
  const submit = useSubmit()
  const draft = { ...base, ...typed }
  const patch = patchOf(fields, base, draft)
  const isChanged = Object.keys(patch).length > 0
  const isDone = useUnsaved(isChanged)
  const form = useFirstField()
  const save = () =>
    submit.run(async () => {
      if (!isChanged) return onClose()
      try {
        const saved = await changeRecord(name, id, patch, version.exchange?.headers['etag'])
        queryClient.setQueryData(recordQuery(name, id).queryKey, saved)
        onSaved({ id, before: valuesOf(version.body, patch), etag: saved.exchange?.headers['etag'] })
      } catch (error) {
        if (problemFrom(error).code !== 'precondition_failed') throw error
        const theirs = await queryClient.fetchQuery({ ...recordQuery(name, id), staleTime: 0 })
        const found = mergedWith(fields, base, draft, draftOf(fields, theirs.body))
        setVersion(theirs)
        setTyped(found.draft)
        setMerged(found)
        return
      }
      void queryClient.invalidateQueries({ queryKey: ['list', name] })
      isDone.current = true
      onClose()
    })
  return (
    <form
      ref={form}
      className="edit-record"
      aria-label={t.edit.form(t.nouns[collection.name].one, id)}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <div className="panel-body stack">
        {merged !== undefined && (
          <ConflictView {...merged} noun={t.nouns[collection.name].one} draft={draft} onChange={setTyped} />
        )}
        <RecordFields
          name={name}
          fields={fields}
          draft={draft}
          problem={submit.problem}
          onChange={setTyped}
        />
      </div>
      <footer className="panel-actions">
        <Button size="xs" type="submit" loading={submit.isBusy}>
          {t.common.save}
        </Button>
        <Button size="xs" variant="default" onClick={onClose}>
          {t.common.cancel}
        </Button>
      </footer>
    </form>
  )
}

/** The values of a record that a patch replaces. */
function valuesOf(record: Row, patch: Row): Row {
  return Object.fromEntries(Object.keys(patch).map((member) => [member, record[member] ?? null]))
}

/** Asks before a person leaves changes that are not saved. */
function useUnsaved(isChanged: boolean) {
  const isDone = useRef(false)
  useBlocker({
    // Only the browser's own dialog can also ask before the tab is closed.
    shouldBlockFn: () => isChanged && !isDone.current && !confirm(t.edit.discard),
    enableBeforeUnload: () => isChanged && !isDone.current,
  })
  return isDone
}

function useFirstField() {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    form.current?.querySelector('input')?.focus()
    return focusPanel
  }, [])
  return form
}
