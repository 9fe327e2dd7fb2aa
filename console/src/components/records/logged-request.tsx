import { Button } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import type { Row } from '../../api/read.ts'
import { browseTarget, explanation, nearbyFilter } from '../../lib/usage/logged-request.ts'

/** Why a logged request was slow or rejected, and a way to see what it requested. */
export function LoggedRequest({ row }: { readonly row: Row | undefined }) {
  const navigate = useNavigate()
  if (row === undefined) return null
  const target = browseTarget(row)
  const { tone, title, lines } = explanation(row)
  return (
    <section className="why" data-tone={tone} aria-label="Why">
      <h3>{title}</h3>
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
      <div className="row why-actions">
        {target !== undefined && (
          <Button size="xs" variant="default" onClick={() => void navigate(target)}>
            {target.search['record'] === undefined
              ? 'Open this list in the console'
              : 'Open this record in the console'}
          </Button>
        )}
        <Link to="/requests" search={{ filter: nearbyFilter(row) }}>
          Requests around it
        </Link>
      </div>
    </section>
  )
}
