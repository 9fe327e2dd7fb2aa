import { grouped, msText } from '../../lib/format.ts'
import { percentText } from '../../lib/usage/percent.ts'
import type { UsageShare } from '../../lib/usage/usage.ts'
import { t } from '../../texts/texts.ts'

interface UsageTableProps {
  readonly title: string
  readonly column: string
  readonly shares: readonly UsageShare[]
  /** What a name means, such as the name of a key. */
  readonly labelOf?: (name: string) => string | undefined
  readonly selected: string | undefined
  readonly onSelect: (name: string | undefined) => void
}

const rowsMax = 50

/** Requests by key or route. A row limits the charts and the other table to it. */
export function UsageTable({ title, column, shares, labelOf, selected, onSelect }: UsageTableProps) {
  const most = shares[0]?.requests ?? 0
  return (
    <section className="usage-table" aria-label={title}>
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>
            <th scope="col">{column}</th>
            <th scope="col">{t.pages.request}</th>
            <th scope="col">{t.usage.errorsTitle}</th>
            <th scope="col">p95</th>
          </tr>
        </thead>
        <tbody>
          {shares.slice(0, rowsMax).map(({ name, requests, errors, p95, isExact }) => (
            <tr key={name} data-selected={selected === name ? '' : undefined}>
              <td>
                <button
                  type="button"
                  className="link"
                  aria-pressed={selected === name}
                  onClick={() => onSelect(selected === name ? undefined : name)}
                >
                  {labelOf?.(name) ?? name}
                </button>
                {labelOf?.(name) !== undefined && <code className="dim"> {name}</code>}
              </td>
              <td>
                <meter min={0} max={most} value={requests} aria-label={t.usage.requestsOf(name)} />
                {grouped(requests)}
              </td>
              <td>
                {errors === 0 ? (
                  <span className="dim">0</span>
                ) : (
                  <>
                    {grouped(errors)} <span className="dim">{percentText(errors / requests)}</span>
                  </>
                )}
              </td>
              <td>{p95 === null ? '–' : `${isExact ? '' : '≤ '}${msText(p95)}`}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {shares.length > rowsMax && <p className="dim">{t.usage.most(rowsMax, grouped(shares.length))}</p>}
    </section>
  )
}
