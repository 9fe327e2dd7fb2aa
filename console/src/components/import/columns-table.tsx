import { Checkbox, NativeSelect } from '@mantine/core'
import type { Collection } from '../../api/catalog.ts'
import type { CsvFile } from '../../lib/import/csv-rows.ts'
import { type Mapping, modes } from '../../lib/import/mapping.ts'

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
    { value: '', label: 'Skip' },
    ...collection.fields.map(({ name, type }) => ({ value: name, label: `${name} (${type})` })),
  ]
  return (
    <>
      <Options mapping={mapping} keys={keys} onChange={onChange} />
      {key === 'id' && mode !== 'update' && (
        <p className="field-note">
          Rows with a new id are inserted only if your own system assigns the ids of these {collection.plural}
          . To insert records without ids, choose a unique field as the key.
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: without the focus, a keyboard could not scroll it */}
      <section className="table-scroll" tabIndex={0} aria-label="Columns of the file">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Column</th>
              <th scope="col">First values</th>
              <th scope="col">Field</th>
            </tr>
          </thead>
          <tbody>
            {file.header.map((column, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two columns can have the same name
              <tr key={index} data-skipped={columns[index] === undefined ? '' : undefined}>
                <th scope="row">{column === '' ? <span className="dim">no name</span> : column}</th>
                <td className="dim">
                  {file.rows
                    .slice(0, samples)
                    .map(({ cells }) => cells[index] ?? '–')
                    .join(' · ')}
                </td>
                <td>
                  <NativeSelect
                    size="xs"
                    aria-label={`Field for the column ${column}`}
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
        label="Key"
        description="How a row names its record."
        data={[...keys]}
        value={key}
        onChange={(event) => onChange({ key: event.target.value })}
      />
      <NativeSelect
        label="What may be done"
        description="Other rows are rejected."
        data={[...modes]}
        value={mode}
        onChange={(event) =>
          onChange({ mode: modes.find(({ value }) => value === event.target.value)?.value ?? 'upsert' })
        }
      />
      <Checkbox
        size="sm"
        label="Numbers as 1.234,50 and dates as 31.12.2026"
        checked={notation === 'german'}
        onChange={(event) => onChange({ notation: event.target.checked ? 'german' : 'service' })}
      />
    </div>
  )
}
