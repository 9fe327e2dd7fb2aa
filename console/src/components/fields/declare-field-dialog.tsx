import { Button, Checkbox, Modal, NativeSelect, SegmentedControl, TextInput } from '@mantine/core'
import { useState } from 'react'
import { declareField } from '../../api/fields.ts'
import {
  canBeUnique,
  type FieldForm,
  fieldOf,
  fieldTypes,
  keyCandidates,
  nameFor,
} from '../../lib/fields/field.ts'
import { faultsAt, useSubmit } from '../../lib/submit.ts'
import { t } from '../../texts/texts.ts'
import { ProblemView } from '../problem-view.tsx'
import { ResourceSelect } from '../resource-select.tsx'
import { useFieldChanged } from './use-field-changed.ts'

interface DeclareFieldDialogProps {
  readonly onClose: () => void
  readonly onDeclared: (id: string) => void
}

const empty: FieldForm = {
  resource: 'product',
  kind: 'new',
  name: '',
  type: 'text',
  label: '',
  isUnique: false,
}
const members = ['resource', 'name', 'type', 'label', 'unique']

/** Declares a field, or makes one of the service a key. */
export function DeclareFieldDialog({ onClose, onDeclared }: DeclareFieldDialogProps) {
  const [form, setForm] = useState(empty)
  const changed = useFieldChanged()
  const submit = useSubmit()
  const { problem, isBusy } = submit
  const change = (part: Partial<FieldForm>) => setForm({ ...form, ...part })
  const faultOf = (member: string) => faultsAt(problem, member)
  const isFieldProblem = form.kind === 'new' && members.some((member) => faultOf(member) !== undefined)
  const declare = () =>
    submit.run(async () => {
      const id = await declareField(fieldOf(form))
      await changed()
      onDeclared(id)
    })
  return (
    <Modal opened closeOnClickOutside={false} size={520} title={t.palette.declareField} onClose={onClose}>
      <form
        className="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void declare()
        }}
      >
        <ResourceSelect
          value={form.resource}
          error={faultOf('resource')}
          onChange={(resource) => change({ resource })}
        />
        <SegmentedControl
          fullWidth
          size="xs"
          aria-label={t.fields.what}
          data={[
            { value: 'new', label: t.fields.new },
            { value: 'existing', label: t.fields.makeKeyOf(keyCandidates[form.resource]) },
          ]}
          value={form.kind}
          onChange={(kind) => change({ kind: kind === 'existing' ? 'existing' : 'new' })}
        />
        {form.kind === 'new' ? (
          <NewFieldParts form={form} faultOf={faultOf} onChange={change} />
        ) : (
          <KeyNote name={keyCandidates[form.resource]} />
        )}
        {problem !== undefined && !isFieldProblem && <ProblemView problem={problem} />}
        <div className="dialog-actions">
          <Button variant="default" disabled={isBusy} onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button type="submit" loading={isBusy}>
            {form.kind === 'new' ? t.fields.declare : t.fields.makeKey}
          </Button>
        </div>
      </form>
    </Modal>
  )
}

function KeyNote({ name }: { readonly name: string | undefined }) {
  return <p className="lead">{t.fields.keyNote(name)}</p>
}

interface NewFieldPartsProps {
  readonly form: FieldForm
  readonly faultOf: (member: string) => string | undefined
  readonly onChange: (part: Partial<FieldForm>) => void
}

function NewFieldParts({ form, faultOf, onChange }: NewFieldPartsProps) {
  const { name, type, label, isUnique } = form
  const isNameSuggested = name === nameFor(label)
  return (
    <>
      <TextInput
        label={t.fields.label}
        description={t.fields.labelMeaning}
        data-autofocus
        value={label}
        error={faultOf('label')}
        onChange={(event) => {
          const next = event.target.value
          onChange(isNameSuggested ? { label: next, name: nameFor(next) } : { label: next })
        }}
      />
      <TextInput
        label={t.common.name}
        description={t.fields.nameMeaning}
        leftSection={<code>x_</code>}
        autoComplete="off"
        spellCheck={false}
        value={name}
        error={faultOf('name')}
        onChange={(event) => onChange({ name: event.target.value })}
      />
      <NativeSelect
        label={t.fields.type}
        description={t.fields.typeMeaning}
        data={[...fieldTypes()]}
        value={type}
        error={faultOf('type')}
        onChange={(event) => onChange({ type: event.target.value })}
      />
      <Checkbox
        label={t.fields.key}
        description={t.fields.keyMeaning}
        disabled={!canBeUnique(type)}
        checked={isUnique && canBeUnique(type)}
        error={faultOf('unique')}
        onChange={(event) => onChange({ isUnique: event.target.checked })}
      />
    </>
  )
}
