import { quoted } from '@quartermaster/filter'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type Row, recordQuery } from '../../api/read.ts'
import { requestLines, resultOf } from '../../lib/webhooks/delivery.ts'
import { t } from '../../texts/texts.ts'
import { CopyButton } from '../copy-button.tsx'
import { Outcome } from './outcome.tsx'
import { DeliveryList } from './webhook-details.tsx'

/** Why a delivery failed. */
export function DeliveryOutcome({ row }: { readonly row: Row | undefined }) {
  return row === undefined ? null : <Outcome result={resultOf(row)} />
}

/** All attempts to send the same message, and the headers of this one. */
export function DeliveryAttempts({ row }: { readonly row: Row | undefined }) {
  const webhookId = String(row?.['webhook_id'])
  const webhook = useQuery({ ...recordQuery('webhook', webhookId), enabled: row !== undefined })
  if (row === undefined) return null
  const url = webhook.data?.body['url']
  const text = requestLines(row, typeof url === 'string' ? url : undefined)
  return (
    <>
      <h3>{t.webhooks.attempts}</h3>
      <DeliveryList
        label={t.webhooks.attemptsOf}
        filter={`message_id=${quoted(String(row['message_id']))}`}
        noneText={t.webhooks.entriesDeleted}
      />
      <h3>{t.webhooks.request}</h3>
      <pre className="code" data-wrap="">
        {text}
      </pre>
      <p className="field-note">
        {t.webhooks.notStored} <code>webhook-id</code>.
      </p>
      <div className="row key-actions">
        <CopyButton label={t.webhooks.copyHeaders} text={() => text} />
        <span className="spacer" />
        <Link to="/webhooks" search={{ record: webhookId }}>
          {t.webhooks.open}
        </Link>
      </div>
    </>
  )
}
