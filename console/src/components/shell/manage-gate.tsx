import { useQuery } from '@tanstack/react-query'
import { accessQuery } from '../../api/access.ts'
import { accountOf } from '../../lib/account.ts'
import { scopes } from '../../lib/keys/scopes.ts'
import { signOut } from '../../session.ts'
import { Button } from '../button.tsx'
import { CopyButton } from '../copy-button.tsx'
import { Icon } from '../icon.tsx'

interface ManageGateProps {
  readonly title: string
  readonly children: React.ReactNode
}

/** Shows a page for administrators, or how to become one. */
export function ManageGate({ title, children }: ManageGateProps) {
  const { data: access } = useQuery(accessQuery)
  if (access?.manage !== false) return children
  const account = accountOf(location)
  const command = `quartermaster key create --account ${account} --name console --scopes ${scopes.map(({ name }) => name).join(',')}`
  return (
    <>
      <header className="page-head">
        <h1>{title}</h1>
      </header>
      <div className="state" role="alert">
        <Icon name="key" size={22} />
        <h2>This page is for administrators of the account</h2>
        <p>
          It needs the scope <code>account:manage</code>, which the key you are signed in with does not have.
        </p>
        <p>
          Ask an administrator to create a key with it on this page. If there is none, your operator runs:
        </p>
        <pre className="code gate-command" data-wrap="">
          {command}
        </pre>
        <div className="actions">
          <CopyButton label="Copy the command" text={() => command} />
          <Button size="xs" onClick={signOut}>
            Use another key
          </Button>
        </div>
      </div>
    </>
  )
}
