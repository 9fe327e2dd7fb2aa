import { Button, Modal, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Collection } from '../../api/catalog.ts'
import { type ResourceName, recordQuery } from '../../api/read.ts'
import { deleteRecord } from '../../api/write.ts'
import { confirmationOf } from '../../lib/records/edit.ts'
import { useSubmit } from '../../lib/submit.ts'
import { ProblemView } from '../problem-view.tsx'

interface DeleteRecordProps {
  readonly name: ResourceName
  readonly collection: Collection
  readonly id: string
  readonly onClose: () => void
  readonly onDeleted: () => void
}

/** Deletes the record that is shown, after its name was typed. If others changed it meanwhile, it stays. */
export function DeleteRecord({ name, collection, id, onClose, onDeleted }: DeleteRecordProps) {
  const [typed, setTyped] = useState('')
  const queryClient = useQueryClient()
  const { data, refetch } = useQuery(recordQuery(name, id))
  const submit = useSubmit()
  if (data === undefined) return null
  const { what, text } = confirmationOf(data.body)
  const isConfirmed = typed.trim() === text
  const isChanged = submit.problem?.code === 'precondition_failed'
  const remove = () =>
    submit.run(async () => {
      await deleteRecord(name, id, data.exchange?.headers['etag'])
      onDeleted()
      queryClient.removeQueries({ queryKey: ['record', name, id] })
      void queryClient.invalidateQueries({ queryKey: ['list', name] })
    })
  return (
    <Modal
      opened
      closeOnClickOutside={false}
      size={480}
      title={`Delete ${collection.noun} ${id}`}
      onClose={onClose}
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (isConfirmed) void remove()
        }}
      >
        <p className="lead">
          The record and its values are deleted for everyone. Its ID is never used again. Other systems learn
          of it from the change feed.
        </p>
        <TextInput
          label={`${what === 'name' ? 'Name' : 'ID'} of the ${collection.noun}`}
          description={`Type ${text} to confirm.`}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        {submit.problem !== undefined && (
          <ProblemView problem={submit.problem}>
            {isChanged && (
              <Button size="xs" variant="default" onClick={() => void refetch().then(onClose)}>
                Show the new version
              </Button>
            )}
          </ProblemView>
        )}
        <div className="dialog-actions">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" className="danger-filled" disabled={!isConfirmed} loading={submit.isBusy}>
            Delete {collection.noun}
          </Button>
        </div>
      </form>
    </Modal>
  )
}
