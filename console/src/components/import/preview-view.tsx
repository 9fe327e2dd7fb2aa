import { grouped } from '../../lib/format.ts'
import type { Reject } from '../../lib/import/mapping.ts'
import type { Preview } from '../../lib/import/preview.ts'

interface Count {
  readonly label: string
  readonly count: number
  readonly tone?: 'bad' | undefined
}

/** Numbers next to each other. */
export function Counts({ counts }: { readonly counts: readonly Count[] }) {
  return (
    <dl className="import-totals">
      {counts.map(({ label, count, tone }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd className={tone}>{grouped(count)}</dd>
        </div>
      ))}
    </dl>
  )
}

/** What the import will do, compared with the records. */
export function PreviewView({ preview, total }: { readonly preview: Preview; readonly total: number }) {
  const { checked, inserts, changes, unchanged, rejects, examples } = preview
  return (
    <section aria-label="Preview">
      <h2>
        {checked === total
          ? `All ${grouped(total)} rows`
          : `The first ${grouped(checked)} of ${grouped(total)} rows`}
      </h2>
      <Counts
        counts={[
          { label: 'To insert', count: inserts },
          { label: 'To change', count: changes },
          { label: 'Equal already', count: unchanged },
          { label: 'To reject', count: rejects.length, tone: rejects.length > 0 ? 'bad' : undefined },
        ]}
      />
      {examples.length > 0 && (
        <>
          <h3>Changes, such as</h3>
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Record</th>
                <th scope="col">Field</th>
                <th scope="col">Now</th>
                <th scope="col">After</th>
              </tr>
            </thead>
            <tbody>
              {examples.map(({ key, field, from, to }) => (
                <tr key={`${key} ${field}`}>
                  <td>{key}</td>
                  <td>{field}</td>
                  <td className="dim">{from}</td>
                  <td>{to}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
      <Rejects rejects={rejects} />
    </section>
  )
}

const rejectsShown = 50

export function Rejects({ rejects }: { readonly rejects: readonly Reject[] }) {
  if (rejects.length === 0) return null
  return (
    <>
      <h3>Rejected rows</h3>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Line</th>
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          {rejects.slice(0, rejectsShown).map(({ row, reason }) => (
            <tr key={row.line}>
              <td>{row.line}</td>
              <td>{reason}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rejects.length > rejectsShown && (
        <p className="dim">And {grouped(rejects.length - rejectsShown)} more.</p>
      )}
    </>
  )
}
