import { Button } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import type { Row } from '../../api/read.ts'
import { stateNote } from '../../lib/fields/field.ts'
import { t } from '../../texts/texts.ts'
import { ValueCount } from './value-count.tsx'

/** How many records have a value of the field, and what can be done with it. */
export function FieldActions({ row }: { readonly row: Row | undefined }) {
  const navigate = useNavigate()
  if (row === undefined) return null
  const note = stateNote(String(row['state']))
  const onDialog = (dialog: 'label' | 'delete') =>
    void navigate({ to: '/fields', search: (search) => ({ ...search, dialog }) })
  return (
    <>
      {note !== undefined && (
        <section className="why" data-tone={note.tone} aria-label={t.fields.state}>
          <h3>{String(row['state'])}</h3>
          <p>{note.text}</p>
        </section>
      )}
      <p>
        <ValueCount resource={String(row['resource'])} name={String(row['name'])} />
      </p>
      <div className="row key-actions">
        <Button size="xs" variant="default" onClick={() => onDialog('label')}>
          {t.fields.changeLabel}
        </Button>
        <Button size="xs" variant="default" className="danger" onClick={() => onDialog('delete')}>
          {t.common.delete}
        </Button>
      </div>
    </>
  )
}
