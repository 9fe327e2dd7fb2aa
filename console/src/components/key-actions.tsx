import { Button } from '@mantine/core'
import { quoted } from '@quartermaster/filter'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { listQuery, type Row } from '../api/read.ts'
import { timestampParts } from '../lib/format.ts'
import { Icon } from './icon.tsx'
import { RevokeKeyDialog, RotateKeyDialog } from './key-dialogs.tsx'

/** What can be done with a key, and what was done: its part of the audit. */
export function KeyActions({ row }: { readonly row: Row | undefined }) {
  const [dialog, setDialog] = useState<'rotate' | 'revoke'>()
  if (row === undefined) return null
  const keyId = String(row['key_id'])
  const name = String(row['name'])
  const state = String(row['state'])
  const close = () => setDialog(undefined)
  return (
    <>
      {(state === 'active' || state === 'rotating') && (
        <div className="row key-actions">
          <Button
            size="xs"
            variant="default"
            leftSection={<Icon name="rotate" size={14} />}
            disabled={state !== 'active'}
            onClick={() => setDialog('rotate')}
          >
            Rotate
          </Button>
          <Button size="xs" variant="default" className="bad" onClick={() => setDialog('revoke')}>
            Revoke
          </Button>
        </div>
      )}
      {dialog === 'rotate' && <RotateKeyDialog keyId={keyId} name={name} onClose={close} />}
      {dialog === 'revoke' && <RevokeKeyDialog keyId={keyId} name={name} onClose={close} />}
    </>
  )
}

/** The changes of one key, newest first. */
export function KeyAudit({ row }: { readonly row: Row | undefined }) {
  const keyId = row === undefined ? '' : String(row['key_id'])
  const query = useQuery({
    ...listQuery('audit', { filter: `subject=${quoted(keyId)}`, limit: '25' }),
    enabled: keyId !== '',
  })
  const entries = query.data?.body.data ?? []
  return (
    <>
      <h3>Audit of this key</h3>
      {entries.length === 0 && (
        <p className="dim">{query.isPending ? 'Loading…' : 'No changes are recorded.'}</p>
      )}
      <ol className="audit">
        {entries.map((entry) => (
          <li key={String(entry['id'])}>
            <b>{String(entry['action'])}</b>{' '}
            <span className="dim">{timestampParts(entry['at'] ?? null)?.join(' ')}</span>
            <div>{String(entry['details'] ?? '')}</div>
            <div className="dim">
              by {String(entry['actor'])} {String(entry['actor_id'])}
              {entry['address'] === null ? '' : ` from ${String(entry['address'])}`}
            </div>
          </li>
        ))}
      </ol>
    </>
  )
}
