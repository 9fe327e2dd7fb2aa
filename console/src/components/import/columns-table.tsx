import { Checkbox, NativeSelect } from '@mantine/core'
import type { Collection } from '../../api/catalog.ts'
import type { CsvFile } from '../../lib/import/csv-rows.ts'
import { type Mapping, modes } from '../../lib/import/mapping.ts'
import { t } from '../../texts/texts.ts'

interface ColumnsProps {
  readonly file: CsvFile
  readonly mapping: Mapping
  readonly collection: Collection
  readonly keys: readonly string[]
  readonly onChange: (part: Partial<Mapping>) => void
}

const samples = 3

/** Which field each column becomes, how rows name their record, and what may be done. */
export function Columns({ file, mapping, collection, keys, onChange }: ColumnsProps) {
  const { columns, key, mode } = mapping
  const fields = [
    { value: '', label: t.import.skip },
    ...collection.fields.map(({ name, type }) => ({ value: name, label: `${name} (${type})` })),
  ]
  return (
    <>
      <Options mapping={mapping} keys={keys} onChange={onChange} />
      {key === 'id' && mode !== 'update' && (
        <p className="field-note">{t.import.ownIds(t.nouns[collection.name].many)}</p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: without the focus, a keyboard could not scroll it */}
      <section className="table-scroll" tabIndex={0} aria-label={t.import.columnsOf}>
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{t.import.column}</th>
              <th scope="col">{t.import.firstValues}</th>
              <th scope="col">{t.filter.field}</th>
            </tr>
          </thead>
          <tbody>
            {file.header.map((column, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two columns can have the same name
              <tr key={index} data-skipped={columns[index] === undefined ? '' : undefined}>
                <th scope="row">{column === '' ? <span className="dim">{t.import.noName}</span> : column}</th>
                <td className="dim">
                  {file.rows
                    .slice(0, samples)
                    .map(({ cells }) => cells[index] ?? '–')
                    .join(' · ')}
                </td>
                <td>
                  <NativeSelect
                    size="xs"
                    aria-label={t.import.fieldFor(column)}
                    data={fields}
                    value={columns[index] ?? ''}
                    onChange={(event) =>
                      onChange({
                        columns: columns.map((name, at) =>
                          at === index ? event.target.value || undefined : name,
                        ),
                      })
                    }
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  )
}

function Options({ mapping, keys, onChange }: Pick<ColumnsProps, 'mapping' | 'keys' | 'onChange'>) {
  const { key, mode, notation } = mapping
  return (
    <div className="import-options">
      <NativeSelect
        label={t.import.key}
        description={t.import.keyMeaning}
        data={[...keys]}
        value={key}
        onChange={(event) => onChange({ key: event.target.value })}
      />
      <NativeSelect
        label={t.import.allowed}
        description={t.import.allowedMeaning}
        data={modes.map((value) => ({ value, label: t.import.modes[value] }))}
        value={mode}
        onChange={(event) =>
          onChange({ mode: modes.find((value) => value === event.target.value) ?? 'upsert' })
        }
      />
      <Checkbox
        size="sm"
        label={t.import.germanNotation}
        checked={notation === 'german'}
        onChange={(event) => onChange({ notation: event.target.checked ? 'german' : 'service' })}
      />
    </div>
  )
}
