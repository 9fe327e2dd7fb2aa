import { useEffect, useRef } from 'react'
import type { Field } from '../../api/catalog.ts'
import { labelOf } from '../../lib/labels.ts'
import type { Conflict, Draft } from '../../lib/records/edit.ts'
import { t } from '../../texts/texts.ts'

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
    <section ref={section} className="conflict" role="alert" aria-label={t.edit.changedMeanwhile}>
      <h3>{t.edit.someoneElse(noun)}</h3>
      {onlyTheirs.length > 0 && <p>{t.edit.theirsKept(onlyTheirs.map(labelOf).join(', '))}</p>}
      {conflicts.length === 0 ? (
        <p>{t.edit.noConflict}</p>
      ) : (
        <table>
          <thead>
            <tr>
              <td />
              <th scope="col">{t.edit.theirs}</th>
              <th scope="col">{t.edit.yours}</th>
            </tr>
          </thead>
          <tbody>
            {conflicts.map(({ field, theirs, yours }) => (
              <tr key={field.name}>
                <th scope="row">{labelOf(field)}</th>
                {[[t.edit.theirs, theirs] as const, [t.edit.yours, yours] as const].map(([whose, text]) => (
                  <td key={whose}>
                    <label>
                      <input
                        type="radio"
                        name={`conflict-${field.name}`}
                        aria-label={`${whose}: ${labelOf(field)} ${text}`}
                        checked={draft[field.name] === text}
                        onChange={() => onChange({ ...draft, [field.name]: text })}
                      />{' '}
                      {text === '' ? <span className="cell-null">{t.edit.empty}</span> : text}
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
