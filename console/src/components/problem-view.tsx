import type { Problem } from '../api/exchange.ts'
import { adviceOf } from '../lib/advice.ts'
import { signOut } from '../session.ts'
import { t } from '../texts/texts.ts'
import { Button } from './button.tsx'

export interface ProblemViewProps {
  readonly problem: Problem
  readonly onRetry?: (() => void) | undefined
  /** Further actions. */
  readonly children?: React.ReactNode
}

/** An error of the service: what is wrong, and what to do. */
export function ProblemView({ problem, onRetry, children }: ProblemViewProps) {
  const { code, title, detail, status, request_id: requestId, errors = [] } = problem
  // With several errors, the detail repeats the first one.
  const more = errors.filter(({ message }) => message !== detail || errors.length > 1)
  const isKeyProblem = code === 'unauthenticated' || code === 'scope_missing'
  return (
    <div className="problem" role="alert">
      <h2>{title}</h2>
      {more.length < 2 && <p>{detail}</p>}
      {more.length > 0 && (
        <ul>
          {more.map(({ message, code: fault, offset }) => (
            <li key={`${fault} ${offset} ${message}`}>{message}</li>
          ))}
        </ul>
      )}
      {adviceOf(code) !== undefined && <p className="dim">{adviceOf(code)}</p>}
      <div className="row">
        {onRetry !== undefined && (
          <Button size="xs" variant="default" onClick={onRetry}>
            {t.common.tryAgain}
          </Button>
        )}
        {children}
        {isKeyProblem && (
          <Button size="xs" onClick={signOut}>
            {t.common.useAnotherKey}
          </Button>
        )}
      </div>
      <footer>
        {status > 0 && (
          <span>
            {t.common.status} {status}
          </span>
        )}
        <a href={`/reference/errors/${code}`} target="_blank" rel="noreferrer">
          <code>{code}</code>
        </a>
        {requestId !== undefined && (
          <span>
            {t.common.request} <code>{requestId}</code>
          </span>
        )}
      </footer>
    </div>
  )
}
