import { grouped } from '../../lib/format.ts'
import type { Reject } from '../../lib/import/mapping.ts'
import type { Preview } from '../../lib/import/preview.ts'
import { t } from '../../texts/texts.ts'

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
    <section aria-label={t.import.preview}>
      <h2>
        {checked === total
          ? t.import.allRows(grouped(total))
          : t.import.firstRows(grouped(checked), grouped(total))}
      </h2>
      <Counts
        counts={[
          { label: t.import.toInsert, count: inserts },
          { label: t.import.toChange, count: changes },
          { label: t.import.equal, count: unchanged },
          { label: t.import.toReject, count: rejects.length, tone: rejects.length > 0 ? 'bad' : undefined },
        ]}
      />
      {examples.length > 0 && (
        <>
          <h3>{t.import.examples}</h3>
          <table className="table">
            <thead>
              <tr>
                <th scope="col">{t.palette.record}</th>
                <th scope="col">{t.filter.field}</th>
                <th scope="col">{t.import.now}</th>
                <th scope="col">{t.import.after}</th>
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
      <h3>{t.import.rejectedRows}</h3>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{t.import.line}</th>
            <th scope="col">{t.requests.why}</th>
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
        <p className="dim">{t.common.andMore(grouped(rejects.length - rejectsShown))}</p>
      )}
    </>
  )
}
