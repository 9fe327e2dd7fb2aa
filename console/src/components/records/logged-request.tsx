import { Button } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import type { Row } from '../../api/read.ts'
import { browseTarget, explanation, nearbyFilter } from '../../lib/usage/logged-request.ts'
import { t } from '../../texts/texts.ts'

/** Why a logged request was slow or rejected, and a way to see what it requested. */
export function LoggedRequest({ row }: { readonly row: Row | undefined }) {
  const navigate = useNavigate()
  if (row === undefined) return null
  const target = browseTarget(row)
  const { tone, title, lines } = explanation(row)
  return (
    <section className="why" data-tone={tone} aria-label={t.requests.why}>
      <h3>{title}</h3>
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
      <div className="row why-actions">
        {target !== undefined && (
          <Button size="xs" variant="default" onClick={() => void navigate(target)}>
            {target.search['record'] === undefined ? t.requests.openList : t.requests.openRecord}
          </Button>
        )}
        <Link to="/requests" search={{ filter: nearbyFilter(row) }}>
          {t.requests.around}
        </Link>
      </div>
    </section>
  )
}
