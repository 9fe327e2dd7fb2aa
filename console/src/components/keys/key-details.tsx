import { Button } from '@mantine/core'
import { quoted } from '@quartermaster/filter'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { selfQuery } from '../../api/access.ts'
import { listQuery, type Row } from '../../api/read.ts'
import { grouped } from '../../lib/format.ts'
import { t } from '../../texts/texts.ts'
import { Icon } from '../icon.tsx'
import { TimeView } from '../time-view.tsx'

const changesShown = 5

/** What can be done with a key. */
export function KeyActions({ row }: { readonly row: Row | undefined }) {
  const navigate = useNavigate()
  const ownKeyId = useQuery(selfQuery).data?.key_id
  if (row === undefined) return null
  const onDialog = (dialog: 'rotate' | 'revoke') =>
    void navigate({ to: '/keys', search: (search) => ({ ...search, dialog }) })
  const keyId = String(row['key_id'])
  const state = String(row['state'])
  const isOwn = ownKeyId === keyId
  const isValid = state === 'active' || state === 'rotating'
  return (
    <>
      {isOwn && <p className="own-key">{t.keys.own}</p>}
      {isValid && (
        <div className="row key-actions">
          {state === 'active' && (
            <Button
              size="xs"
              variant="default"
              leftSection={<Icon name="rotate" size={14} />}
              onClick={() => onDialog('rotate')}
            >
              {t.keys.rotate}
            </Button>
          )}
          <Button size="xs" variant="default" className="danger" onClick={() => onDialog('revoke')}>
            {t.keys.revoke}
          </Button>
          <span className="spacer" />
          <Link to="/requests" search={{ filter: `key_id=${quoted(keyId)}` }}>
            {t.pages.request}
          </Link>
          <Link to="/usage" search={{ key: keyId }}>
            {t.pages.usage}
          </Link>
        </div>
      )}
    </>
  )
}

/** The newest entries of the audit log about this key. */
export function KeyAudit({ row }: { readonly row: Row | undefined }) {
  const filter = `subject=${quoted(String(row?.['key_id']))}`
  const { data } = useQuery({
    ...listQuery('audit', { filter, limit: String(changesShown) }),
    enabled: row !== undefined,
  })
  const changes = data?.body.data
  const total = data?.body.meta.total ?? 0
  return (
    <>
      <h3>{t.pages.audit}</h3>
      {changes?.length === 0 && <p className="dim">{t.keys.noChanges}</p>}
      <ul className="changes" aria-label={t.keys.changes} aria-busy={changes === undefined}>
        {(changes ?? []).map((change) => (
          <li key={String(change['id'])}>
            <code>{change['action']}</code>
            <span className="dim">
              {t.keys.by} {String(change['actor'])} {String(change['actor_id'])}
            </span>
            <span className="spacer" />
            <TimeView value={String(change['at'])} />
          </li>
        ))}
      </ul>
      {total > 0 && (
        <Link to="/audit" search={{ filter }}>
          {total > changesShown ? t.keys.allChanges(grouped(total)) : t.keys.openAudit}
        </Link>
      )}
    </>
  )
}
