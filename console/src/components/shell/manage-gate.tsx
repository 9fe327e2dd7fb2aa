import { useQuery } from '@tanstack/react-query'
import { accessQuery } from '../../api/access.ts'
import { accountOf } from '../../lib/account.ts'
import { scopes } from '../../lib/keys/scopes.ts'
import { usePageTitle } from '../../lib/page-title.ts'
import { signOut } from '../../session.ts'
import { t } from '../../texts/texts.ts'
import { Button } from '../button.tsx'
import { CopyButton } from '../copy-button.tsx'
import { Icon } from '../icon.tsx'

interface ManageGateProps {
  readonly name: keyof typeof t.pages

  readonly children: React.ReactNode
}

/** Shows a page for administrators, or how to become one. */
export function ManageGate({ name: page, children }: ManageGateProps) {
  const { data: access } = useQuery(accessQuery)
  return access?.manage === false ? <Closed page={page} /> : children
}

function Closed({ page }: { readonly page: keyof typeof t.pages }) {
  usePageTitle(t.pages[page])
  const account = accountOf(location)
  const command = `quartermaster key create --account ${account} --name console --scopes ${scopes.join(',')}`
  return (
    <>
      <header className="page-head">
        <h1>{t.pages[page]}</h1>
      </header>
      <div className="state" role="alert">
        <Icon name="key" size={22} />
        <h2>{t.app.forAdministrators}</h2>
        <p>
          {t.app.needsScope[0]}
          <code>account:manage</code>
          {t.app.needsScope[1]}
        </p>
        <p>{t.app.askAdministrator}</p>
        <pre className="code gate-command" data-wrap="">
          {command}
        </pre>
        <div className="actions">
          <CopyButton label={t.app.copyCommand} text={() => command} />
          <Button size="xs" onClick={signOut}>
            {t.common.useAnotherKey}
          </Button>
        </div>
      </div>
    </>
  )
}
