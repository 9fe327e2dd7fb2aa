import { Button, SegmentedControl, TagsInput, TextInput } from '@mantine/core'
import { DatePicker } from '@mantine/dates'
import '@mantine/dates/styles.css'
import 'dayjs/locale/de'
import { useState } from 'react'
import type { Collection, Field } from '../../api/catalog.ts'
import type { Chip } from '../../filter/model.ts'
import { type Choice, choicesOf, isList } from '../../filter/operators.ts'
import { typedOf, valuesOf } from '../../filter/typed-values.ts'
import { descriptionOf } from '../../lib/labels.ts'
import { t } from '../../texts/texts.ts'

export interface ChipEditorProps {
  readonly collection: Collection
  readonly chip: Chip | undefined
  readonly onApply: (chip: Chip) => void
  readonly onCancel: () => void
}

/** One condition: field, an operator of its type, and a value with a picker for its type. */
export function ChipEditor({ collection, chip, onApply, onCancel }: ChipEditorProps) {
  const [fieldName, setFieldName] = useState(chip?.field ?? collection.fields[1]?.name ?? 'id')
  const field = collection.fields.find(({ name }) => name === fieldName) ?? unknownField(fieldName)
  const choices = choicesOf(field)
  const [choiceId, setChoiceId] = useState(chip === undefined ? undefined : idOf(chip))
  const choice = choices.find(({ id }) => id === choiceId) ?? choices[0]
  const [values, setValues] = useState<readonly string[]>(chip === undefined ? [] : typedOf(chip))
  if (choice === undefined) return null
  const apply = () => {
    const next = valuesOf(choice, values, field)
    if (next.length > 0) onApply({ kind: 'chip', field: fieldName, operator: choice.operator, values: next })
  }
  return (
    <form
      className="chip-editor"
      onSubmit={(event) => {
        event.preventDefault()
        apply()
      }}
    >
      <label>
        {t.filter.field}
        <select
          data-autofocus
          value={fieldName}
          onChange={(event) => {
            setFieldName(event.target.value)
            setChoiceId(undefined)
            setValues([])
          }}
        >
          {collection.fields.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label>
        {t.filter.operator}
        <select value={choice.id} onChange={(event) => setChoiceId(event.target.value)}>
          {choices.map(({ id, label }) => (
            <option key={id} value={id}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {!choice.isNull && <ValueInput field={field} choice={choice} values={values} onChange={setValues} />}
      <p className="dim">{descriptionOf(field, collection.name)}</p>
      <div className="row">
        <span className="spacer" />
        <Button size="xs" variant="default" onClick={onCancel}>
          {t.common.cancel}
        </Button>
        <Button size="xs" type="submit">
          {t.filter.apply}
        </Button>
      </div>
    </form>
  )
}

interface ValueInputProps {
  readonly field: Field
  readonly choice: Choice
  readonly values: readonly string[]
  readonly onChange: (values: readonly string[]) => void
}

function ValueInput({ field, choice, values, onChange }: ValueInputProps) {
  const value = values[0] ?? ''
  if (isList(choice.operator)) {
    return (
      <TagsInput
        label={t.filter.values}
        size="xs"
        description={t.filter.enterAdds}
        splitChars={[',']}
        acceptValueOnBlur
        value={[...values]}
        onChange={onChange}
      />
    )
  }
  if (field.type === 'boolean') {
    const data = field.nullable ? ['true', 'false', 'null'] : ['true', 'false']
    return (
      <SegmentedControl
        aria-label={t.filter.value}
        size="xs"
        data={data}
        value={value === '' ? 'true' : value}
        onChange={(next) => onChange([next])}
      />
    )
  }
  const isTime = field.type === 'timestamp'
  return (
    <>
      <TextInput
        label={t.filter.value}
        size="xs"
        placeholder={isTime ? `2026-11-14 ${t.filter.or} 2026-11-14T09:30:00Z` : undefined}
        inputMode={field.type === 'text' || isTime ? 'text' : 'decimal'}
        value={value}
        onChange={(event) => onChange([event.target.value])}
      />
      {isTime && (
        <DatePicker
          size="xs"
          weekendDays={[]}
          locale={t.locale}
          ariaLabels={t.filter.calendar}
          value={/^\d{4}-\d\d-\d\d/.test(value) ? value.slice(0, 10) : null}
          onChange={(day) => onChange(day === null ? [] : [day])}
        />
      )}
    </>
  )
}

function idOf({ operator, values }: Chip): string {
  const isNull = values.length === 1 && values[0] === null && !isList(operator)
  return isNull ? `${operator}null` : operator
}

function unknownField(name: string): Field {
  return { name, type: 'text', nullable: true, description: t.list.notAField }
}
