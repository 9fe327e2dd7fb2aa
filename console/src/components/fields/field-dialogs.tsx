import { Button, Modal, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { deleteField, relabelField } from '../../api/fields.ts'
import { isOwnName } from '../../api/own-fields.ts'
import { type Row, recordQuery } from '../../api/read.ts'
import { faultsAt, useSubmit } from '../../lib/submit.ts'
import { t } from '../../texts/texts.ts'
import { ConfirmDialog } from '../confirm-dialog.tsx'
import { ProblemView } from '../problem-view.tsx'
import { DeclareFieldDialog } from './declare-field-dialog.tsx'
import { useFieldChanged } from './use-field-changed.ts'
import { ValueCount } from './value-count.tsx'

interface FieldDialogsProps {
  /** `create`, `label` or `delete`, from the URL. */
  readonly dialog: string | undefined
  readonly fieldId: string | undefined
  readonly onClose: () => void
  readonly onCreated: (id: string) => void
  readonly onDeleted: () => void
}

export function FieldDialogs({ dialog, fieldId, onClose, onCreated, onDeleted }: FieldDialogsProps) {
  const isOfOne = fieldId !== undefined && (dialog === 'label' || dialog === 'delete')
  const { data } = useQuery({ ...recordQuery('field', fieldId ?? ''), enabled: isOfOne })
  if (dialog === 'create') return <DeclareFieldDialog onClose={onClose} onDeclared={onCreated} />
  if (!isOfOne || data === undefined) return null
  const about = { id: fieldId, row: data.body, onClose }
  if (dialog === 'label') return <LabelDialog key={fieldId} {...about} />
  return <DeleteDialog key={fieldId} {...about} onDeleted={onDeleted} />
}

interface DialogProps {
  readonly id: string
  readonly row: Row
  readonly onClose: () => void
}

function LabelDialog({ id, row, onClose }: DialogProps) {
  const [label, setLabel] = useState(String(row['label']))
  const changed = useFieldChanged()
  const submit = useSubmit()
  const fault = faultsAt(submit.problem, 'label')
  const save = () =>
    submit.run(async () => {
      await relabelField(id, label)
      await changed()
      onClose()
    })
  return (
    <Modal opened size={480} title={t.fields.labelOf(String(row['name']))} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <TextInput
          label={t.fields.label}
          description={t.fields.meaning}
          data-autofocus
          value={label}
          error={fault}
          onChange={(event) => setLabel(event.target.value)}
        />
        {submit.problem !== undefined && fault === undefined && <ProblemView problem={submit.problem} />}
        <div className="dialog-actions">
          <Button variant="default" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button type="submit" loading={submit.isBusy}>
            {t.common.save}
          </Button>
        </div>
      </form>
    </Modal>
  )
}

function DeleteDialog({ id, row, onClose, onDeleted }: DialogProps & { readonly onDeleted: () => void }) {
  const changed = useFieldChanged()
  const name = String(row['name'])
  const isOwn = isOwnName(name)
  return (
    <ConfirmDialog
      title={isOwn ? t.fields.delete(name) : t.fields.notUnique(name)}
      label={t.fields.nameOf}
      expected={name}
      action={isOwn ? t.fields.deleteAll : t.fields.endUnique}
      onClose={onClose}
      onConfirm={async () => {
        await deleteField(id)
        onDeleted()
        await changed()
      }}
    >
      <p className="lead">
        <ValueCount resource={String(row['resource'])} name={name} />.{' '}
        {isOwn ? t.fields.deleteMeaning : t.fields.endMeaning}
      </p>
    </ConfirmDialog>
  )
}
