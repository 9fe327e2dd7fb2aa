import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'

import { type ResourceName, recordQuery } from '../../api/read.ts'
import { deleteRecord } from '../../api/write.ts'
import { confirmationOf } from '../../lib/records/edit.ts'
import { t } from '../../texts/texts.ts'
import { ConfirmDialog } from '../confirm-dialog.tsx'

interface DeleteRecordProps {
  readonly name: ResourceName

  readonly id: string
  readonly onClose: () => void
  readonly onDeleted: () => void
}

/** Deletes the record that is shown, after its name was typed. If others changed it meanwhile, it stays. */
export function DeleteRecord({ name, id, onClose, onDeleted }: DeleteRecordProps) {
  const queryClient = useQueryClient()
  const { data, refetch } = useQuery(recordQuery(name, id))
  if (data === undefined) return null
  const { what, text } = confirmationOf(data.body)
  const { one } = t.nouns[name]
  return (
    <ConfirmDialog
      title={t.record.deleteOne(one, id)}
      label={what === 'name' ? t.record.nameOf(one) : t.record.idOf(one)}
      expected={text}
      action={t.record.delete(one)}
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
            {t.record.showNew}
          </Button>
        )
      }
    >
      <p className="lead">{t.record.deleteMeaning}</p>
    </ConfirmDialog>
  )
}
