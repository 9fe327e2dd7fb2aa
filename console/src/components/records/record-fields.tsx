import { Checkbox, NativeSelect, TextInput } from '@mantine/core'
import type { CollectionName, Field } from '../../api/catalog.ts'
import type { Problem } from '../../api/exchange.ts'
import { isNumeric } from '../../lib/format.ts'
import { labelOf, meaningOf } from '../../lib/labels.ts'
import { type Draft, isRequired } from '../../lib/records/edit.ts'
import { faultsAt } from '../../lib/submit.ts'
import { t } from '../../texts/texts.ts'
import { ProblemView } from '../problem-view.tsx'

interface RecordFieldsProps {
  readonly name: CollectionName
  readonly fields: readonly Field[]
  readonly draft: Draft
  readonly problem: Problem | undefined
  readonly onChange: (draft: Draft) => void
}

/** The inputs of a record, one for each field, with the service's messages. */
export function RecordFields({ name: list, fields, draft, problem, onChange }: RecordFieldsProps) {
  const isAtField = fields.some(({ name }) => faultsAt(problem, name) !== undefined)
  return (
    <>
      {problem !== undefined && !isAtField && <ProblemView problem={problem} />}
      {fields.map((field, index) => (
        <FieldInput
          key={field.name}
          list={list}
          field={field}
          text={draft[field.name] ?? ''}
          error={faultsAt(problem, field.name)}
          isFirst={index === 0}
          onChange={(text) => onChange({ ...draft, [field.name]: text })}
        />
      ))}
    </>
  )
}

interface FieldInputProps {
  readonly list: CollectionName
  readonly field: Field
  readonly text: string
  readonly error: string | undefined
  readonly isFirst: boolean
  readonly onChange: (text: string) => void
}

function FieldInput({ list, field, text, error, isFirst, onChange }: FieldInputProps) {
  const { type, nullable } = field
  const about = { label: labelOf(field), title: meaningOf(field, list), error }
  if (type === 'boolean' && !nullable) {
    return (
      <Checkbox
        {...about}
        checked={text === 'true'}
        onChange={(event) => onChange(String(event.target.checked))}
      />
    )
  }
  if (type === 'boolean') {
    return (
      <NativeSelect
        {...about}
        size="xs"
        data={[
          { value: '', label: t.common.unknown },
          { value: 'true', label: t.common.yes },
          { value: 'false', label: t.common.no },
        ]}
        value={text}
        onChange={(event) => onChange(event.target.value)}
      />
    )
  }
  return (
    <TextInput
      {...about}
      size="xs"
      withAsterisk={isRequired(field)}
      autoComplete="off"
      {...(type === 'timestamp' ? { type: 'datetime-local', step: 1 } : {})}
      {...(isNumeric(type) ? { inputMode: 'decimal' as const } : {})}
      data-autofocus={isFirst ? true : undefined}
      value={text}
      onFocus={(event) => event.target.select()}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}
