import { useEffect, useRef } from 'react'
import type { Field } from '../../api/catalog.ts'
import { labelOf } from '../../lib/labels.ts'
import type { Conflict, Draft } from '../../lib/records/edit.ts'

interface ConflictViewProps {
  readonly noun: string
  readonly conflicts: readonly Conflict[]
  readonly onlyTheirs: readonly Field[]
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
}

/** What others changed while a person was editing, and for each field that both changed, whose value to keep. */
export function ConflictView({ noun, conflicts, onlyTheirs, draft, onChange }: ConflictViewProps) {
  const section = useRef<HTMLElement>(null)
  // The person is at the end of the form, where they tried to save.
  useEffect(() => {
    section.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  return (
    <section ref={section} className="conflict" role="alert" aria-label="Changed meanwhile">
      <h3>Someone else changed this {noun} while you were editing</h3>
      {onlyTheirs.length > 0 && <p>Their new values of {onlyTheirs.map(labelOf).join(', ')} are kept.</p>}
      {conflicts.length === 0 ? (
        <p>Your changes do not touch theirs. Save again to add yours.</p>
      ) : (
        <table>
          <thead>
            <tr>
              <td />
              <th scope="col">Theirs</th>
              <th scope="col">Yours</th>
            </tr>
          </thead>
          <tbody>
            {conflicts.map(({ field, theirs, yours }) => (
              <tr key={field.name}>
                <th scope="row">{labelOf(field)}</th>
                {[['Theirs', theirs] as const, ['Yours', yours] as const].map(([whose, text]) => (
                  <td key={whose}>
                    <label>
                      <input
                        type="radio"
                        name={`conflict-${field.name}`}
                        aria-label={`${whose}: ${labelOf(field)} ${text}`}
                        checked={draft[field.name] === text}
                        onChange={() => onChange({ ...draft, [field.name]: text })}
                      />{' '}
                      {text === '' ? <span className="cell-null">empty</span> : text}
                    </label>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
