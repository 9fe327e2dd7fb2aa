import { Button, Modal } from '@mantine/core'
import { useState } from 'react'
import { activateWebhook, createWebhook, type WebhookSecret } from '../../api/webhooks.ts'
import { useSubmit } from '../../lib/submit.ts'
import { queryOf } from '../../lib/webhooks/webhook-status.ts'
import { t } from '../../texts/texts.ts'
import { SecretView } from '../keys/secret-view.tsx'
import { ProblemView } from '../problem-view.tsx'
import { ReceiverCode } from './receiver-code.tsx'
import { useWebhookChanged } from './use-webhook-changed.ts'
import { WebhookForm, type WebhookValues } from './webhook-form.tsx'

interface CreateWebhookDialogProps {
  readonly onClose: () => void
  /** When the webhook was created and the dialog is done. */
  readonly onCreated: (id: string) => void
}

const empty: WebhookValues = { resource: 'product', url: '', filter: '', fields: '', since: 'now' }

/** Creates a webhook, shows its secret once, and verifies the receiver. */
export function CreateWebhookDialog({ onClose, onCreated }: CreateWebhookDialogProps) {
  const [created, setCreated] = useState<WebhookSecret>()
  const changed = useWebhookChanged()
  const submit = useSubmit()
  const create = (values: WebhookValues) =>
    submit.run(async () => {
      const { resource, since } = values
      setCreated(await createWebhook({ resource, since, ...queryOf(values) }))
      void changed()
    })
  const isCreated = created !== undefined
  return (
    <Modal
      opened
      size={isCreated ? 640 : 520}
      title={isCreated ? t.webhooks.created : t.record.createTitle(t.nouns.webhook.one)}
      // The secret is lost if the dialog closes before it was copied.
      closeOnClickOutside={false}
      closeOnEscape={!isCreated && !submit.isBusy}
      closeButtonProps={{ 'aria-label': t.common.close, disabled: submit.isBusy }}
      onClose={() => (isCreated ? onCreated(created.id) : onClose())}
    >
      {isCreated ? (
        <Verification webhook={created} onDone={() => onCreated(created.id)} />
      ) : (
        <WebhookForm
          initial={empty}
          isNew
          action={t.record.createLabel('webhook')}
          submit={submit}
          onSubmit={create}
          onClose={onClose}
        />
      )}
    </Modal>
  )
}

interface VerificationProps {
  readonly webhook: WebhookSecret
  readonly onDone: () => void
}

/** The steps from the secret to an active webhook. */
function Verification({ webhook: { id, secret }, onDone }: VerificationProps) {
  const [isActive, setActive] = useState(false)
  const changed = useWebhookChanged()
  const submit = useSubmit()
  const activate = () =>
    submit.run(async () => {
      try {
        await activateWebhook(id)
        setActive(true)
      } finally {
        void changed()
      }
    })
  return (
    <SecretView secret={secret} what="secret">
      <p className="lead">{t.webhooks.start}</p>
      <ReceiverCode />
      {isActive && (
        <section className="why" data-tone="ok" role="status">
          <h3>{t.webhooks.verified}</h3>
          <p>{t.webhooks.verifiedMeaning}</p>
        </section>
      )}
      {submit.problem !== undefined && <ProblemView problem={submit.problem} />}
      <div className="dialog-actions">
        <Button variant="default" onClick={onDone}>
          {isActive ? t.common.done : t.webhooks.verifyLater}
        </Button>
        {!isActive && (
          <Button loading={submit.isBusy} onClick={() => void activate()}>
            {t.webhooks.verify}
          </Button>
        )}
      </div>
    </SecretView>
  )
}
