import { Button, Modal } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { Collection } from '../../api/catalog.ts'
import type { ResourceName } from '../../api/read.ts'
import { createRecord } from '../../api/write.ts'
import { emptyDraft, patchOf, writableFields } from '../../lib/records/edit.ts'
import { useRetryKey } from '../../lib/retry-key.ts'
import { useSubmit } from '../../lib/submit.ts'
import { t } from '../../texts/texts.ts'
import { RecordFields } from './record-fields.tsx'

interface CreateRecordProps {
  readonly name: ResourceName
  readonly collection: Collection
  readonly onClose: () => void
  readonly onCreated: (id: number) => void
}

/** Creates one record, however often the button is clicked. */
export function CreateRecord({ name, collection, onClose, onCreated }: CreateRecordProps) {
  const queryClient = useQueryClient()
  const fields = useMemo(() => writableFields(collection), [collection])
  const empty = useMemo(() => emptyDraft(fields), [fields])
  const [draft, setDraft] = useState(empty)
  const submit = useSubmit()
  const retryKey = useRetryKey()
  const create = () =>
    submit.run(async () => {
      const record = patchOf(fields, empty, { ...empty, ...draft })
      const { body } = await createRecord(name, record, retryKey(JSON.stringify(record)))
      void queryClient.invalidateQueries({ queryKey: ['list', name] })
      onCreated(body.id)
    })
  return (
    <Modal
      opened
      closeOnClickOutside={false}
      onClose={onClose}
      title={t.record.createTitle(t.nouns[name].one)}
      size="sm"
    >
      <form
        className="dialog"
        // The service validates; its messages are shown at the fields.
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void create()
        }}
      >
        <RecordFields
          name={name}
          fields={fields}
          draft={{ ...empty, ...draft }}
          problem={submit.problem}
          onChange={setDraft}
        />
        <div className="row">
          <span className="spacer" />
          <Button variant="default" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button type="submit" loading={submit.isBusy}>
            {t.record.createLabel(name)}
          </Button>
        </div>
      </form>
    </Modal>
  )
}
