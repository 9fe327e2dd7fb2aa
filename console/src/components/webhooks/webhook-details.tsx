import { Button } from '@mantine/core'
import { quoted } from '@quartermaster/filter'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { listQuery, type Row } from '../../api/read.ts'
import { activateWebhook, pauseWebhook, type TestResult, testWebhook } from '../../api/webhooks.ts'
import { grouped, msText } from '../../lib/format.ts'
import { useSubmit } from '../../lib/submit.ts'
import { resultOf } from '../../lib/webhooks/delivery.ts'
import { statusOf } from '../../lib/webhooks/webhook-status.ts'
import { t } from '../../texts/texts.ts'
import { ProblemView } from '../problem-view.tsx'
import { TimeView } from '../time-view.tsx'
import { Outcome } from './outcome.tsx'
import { ReceiverCode } from './receiver-code.tsx'
import { useWebhookChanged } from './use-webhook-changed.ts'

const deliveriesShown = 6
const refreshMs = 10_000

interface WebhookPartProps {
  readonly row: Row | undefined
}

/** What a webhook does now, and what can be done with it. */
export function WebhookActions({ row }: WebhookPartProps) {
  const changed = useWebhookChanged()
  const submit = useSubmit()
  const [test, setTest] = useState<TestResult>()
  if (row === undefined) return null
  const id = String(row['id'])
  const { tone, title, text, activate, isVerified } = statusOf(
    String(row['status']),
    row['reason'] === null ? null : String(row['reason']),
  )
  const run = (work: () => Promise<unknown>) =>
    void submit.run(async () => {
      setTest(undefined)
      try {
        await work()
      } finally {
        await changed()
      }
    })
  return (
    <>
      <section className="why" data-tone={tone} aria-label={t.webhooks.status}>
        <h3>{title}</h3>
        <p>{text}</p>
      </section>
      <div className="row key-actions webhook-actions">
        {activate !== undefined && (
          <Button size="xs" loading={submit.isBusy} onClick={() => run(() => activateWebhook(id))}>
            {activate}
          </Button>
        )}
        {isVerified && (
          <Button
            size="xs"
            variant="default"
            loading={submit.isBusy}
            onClick={() => run(async () => setTest(await testWebhook(id)))}
          >
            {t.webhooks.sendTest}
          </Button>
        )}
        {activate === undefined && (
          <Button
            size="xs"
            variant="default"
            disabled={submit.isBusy}
            onClick={() => run(() => pauseWebhook(id))}
          >
            {t.webhooks.pause}
          </Button>
        )}
        <DialogButtons />
      </div>
      {submit.problem !== undefined && <ProblemView problem={submit.problem} />}
      {test !== undefined && <Outcome result={test} />}
      <h3>{t.pages.delivery}</h3>
      <DeliveryList
        label={t.webhooks.deliveriesOf}
        filter={`webhook_id=${quoted(id)}`}
        noneText={t.webhooks.nothingSent}
      />
      <h3>{t.webhooks.webhook}</h3>
    </>
  )
}

function DialogButtons() {
  const navigate = useNavigate()
  const onDialog = (dialog: string) =>
    void navigate({ to: '/webhooks', search: (search) => ({ ...search, dialog }) })
  return (
    <>
      {(['edit', 'replay', 'rotate'] as const).map((dialog) => (
        <Button key={dialog} size="xs" variant="default" onClick={() => onDialog(dialog)}>
          {t.webhooks.dialogs[dialog]}
        </Button>
      ))}
      <Button size="xs" variant="default" className="danger" onClick={() => onDialog('delete')}>
        {t.common.delete}
      </Button>
    </>
  )
}

/** The code of a receiver. */
export function WebhookReceiver() {
  return (
    <>
      <h3>{t.webhooks.receiver}</h3>
      <ReceiverCode />
    </>
  )
}

interface DeliveryListProps {
  readonly label: string
  readonly filter: string
  readonly noneText: string
}

/** The newest deliveries that match the filter, each a link to its details. */
export function DeliveryList({ label, filter, noneText }: DeliveryListProps) {
  const { data } = useQuery({
    ...listQuery('delivery', { filter, limit: String(deliveriesShown) }),
    // A delivery follows seconds after a change. Only while the tab is visible.
    refetchInterval: refreshMs,
  })
  const rows = data?.body.data
  const total = data?.body.meta.total ?? 0
  return (
    <>
      {rows?.length === 0 && <p className="dim">{noneText}</p>}
      <ul className="changes" aria-label={label} aria-busy={rows === undefined}>
        {(rows ?? []).map((row) => (
          <Delivery key={String(row['id'])} row={row} />
        ))}
      </ul>
      {total > deliveriesShown && (
        <Link to="/deliveries" search={{ filter }}>
          {t.webhooks.all(grouped(total))}
        </Link>
      )}
    </>
  )
}

function Delivery({ row }: { readonly row: Row }) {
  const { status, error, duration_ms: ms } = resultOf(row)
  const changes = Number(row['changes'])
  const kind = row['kind'] === 'changes' ? t.webhooks.changes(changes, grouped(changes)) : row['kind']
  return (
    <li>
      <span className="badge" data-tone={error === null ? 'ok' : 'bad'}>
        {status ?? error}
      </span>
      <Link to="/deliveries" search={{ record: String(row['id']) }}>
        {kind}
      </Link>
      <span className="dim">{msText(ms)}</span>
      <span className="spacer" />
      <TimeView value={String(row['at'])} />
    </li>
  )
}
