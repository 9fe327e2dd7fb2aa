import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Collection } from '../../api/catalog.ts'
import { type ResourceName, recordQuery } from '../../api/read.ts'
import { deleteRecord } from '../../api/write.ts'
import { confirmationOf } from '../../lib/records/edit.ts'
import { ConfirmDialog } from '../confirm-dialog.tsx'

interface DeleteRecordProps {
  readonly name: ResourceName
  readonly collection: Collection
  readonly id: string
  readonly onClose: () => void
  readonly onDeleted: () => void
}

/** Deletes the record that is shown, after its name was typed. If others changed it meanwhile, it stays. */
export function DeleteRecord({ name, collection, id, onClose, onDeleted }: DeleteRecordProps) {
  const queryClient = useQueryClient()
  const { data, refetch } = useQuery(recordQuery(name, id))
  if (data === undefined) return null
  const { what, text } = confirmationOf(data.body)
  return (
    <ConfirmDialog
      title={`Delete ${collection.noun} ${id}`}
      label={`${what === 'name' ? 'Name' : 'ID'} of the ${collection.noun}`}
      expected={text}
      action={`Delete ${collection.noun}`}
      onClose={onClose}
      onConfirm={async () => {
        await deleteRecord(name, id, data.exchange?.headers['etag'])
        onDeleted()
        queryClient.removeQueries({ queryKey: ['record', name, id] })
        void queryClient.invalidateQueries({ queryKey: ['list', name] })
      }}
      help={({ code }) =>
        code === 'precondition_failed' && (
          <Button size="xs" variant="default" onClick={() => void refetch().then(onClose)}>
            Show the new version
          </Button>
        )
      }
    >
      <p className="lead">
        The record and its values are deleted for everyone. Its ID is never used again. Other systems learn of
        it from the change feed.
      </p>
    </ConfirmDialog>
  )
}
