import { Button } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import type { Row } from '../api/read.ts'
import { browseTarget, explanation } from '../lib/logged-request.ts'

/** Why a logged request was slow or rejected, and a way to see what it requested. */
export function LoggedRequest({ row }: { readonly row: Row | undefined }) {
  const navigate = useNavigate()
  if (row === undefined) return null
  const target = browseTarget(row)
  return (
    <div className="why">
      {explanation(row).map((line) => (
        <p key={line}>{line}</p>
      ))}
      {target !== undefined && (
        <Button size="xs" variant="default" onClick={() => void navigate(target)}>
          Open this list in the console
        </Button>
      )}
    </div>
  )
}
