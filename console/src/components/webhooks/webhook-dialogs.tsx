import { Button, Modal, Radio, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Row, recordQuery } from '../../api/read.ts'
import { changeWebhook, deleteWebhook, replayWebhook, rotateWebhook } from '../../api/webhooks.ts'
import { plainText } from '../../lib/format.ts'
import { faultsAt, useSubmit } from '../../lib/submit.ts'
import { queryOf, sinceOf } from '../../lib/webhooks/webhook-status.ts'
import { t } from '../../texts/texts.ts'
import { ConfirmDialog } from '../confirm-dialog.tsx'
import { SecretView } from '../keys/secret-view.tsx'
import { ProblemView } from '../problem-view.tsx'
import { CreateWebhookDialog } from './create-webhook-dialog.tsx'
import { useWebhookChanged } from './use-webhook-changed.ts'
import { WebhookForm, type WebhookValues } from './webhook-form.tsx'

interface WebhookDialogsProps {
  /** `create`, `edit`, `rotate`, `replay` or `delete`, from the URL. */
  readonly dialog: string | undefined
  readonly webhookId: string | undefined
  readonly onClose: () => void
  readonly onCreated: (id: string) => void
  readonly onDeleted: () => void
}

export function WebhookDialogs({ dialog, webhookId, onClose, onCreated, onDeleted }: WebhookDialogsProps) {
  const isOfOne = webhookId !== undefined && dialog !== undefined && dialog !== 'create'
  const { data } = useQuery({ ...recordQuery('webhook', webhookId ?? ''), enabled: isOfOne })
  if (dialog === 'create') return <CreateWebhookDialog onClose={onClose} onCreated={onCreated} />
  if (!isOfOne || data === undefined) return null
  const about = { id: webhookId, row: data.body, onClose }
  if (dialog === 'edit') return <EditDialog key={webhookId} {...about} />
  if (dialog === 'rotate') return <RotateDialog key={webhookId} {...about} />
  if (dialog === 'replay') return <ReplayDialog key={webhookId} {...about} />
  return dialog === 'delete' ? <DeleteDialog key={webhookId} {...about} onDeleted={onDeleted} /> : null
}

interface DialogProps {
  readonly id: string
  readonly row: Row
  readonly onClose: () => void
}

function EditDialog({ id, row, onClose }: DialogProps) {
  const changed = useWebhookChanged()
  const submit = useSubmit()
  const textOf = (name: string) => plainText(row[name])
  const initial = {
    resource: textOf('resource'),
    url: textOf('url'),
    filter: textOf('filter'),
    fields: textOf('fields'),
    since: 'now',
  }
  const change = (values: WebhookValues) =>
    submit.run(async () => {
      await changeWebhook(id, queryOf(values))
      await changed()
      onClose()
    })
  return (
    <Modal opened closeOnClickOutside={false} size={520} title={t.webhooks.editTitle} onClose={onClose}>
      <WebhookForm
        initial={initial}
        isNew={false}
        action={t.common.save}
        submit={submit}
        onSubmit={change}
        onClose={onClose}
      />
      <p className="field-note">{t.webhooks.newUrl}</p>
    </Modal>
  )
}

function RotateDialog({ id, onClose }: DialogProps) {
  const [secret, setSecret] = useState<string>()
  const changed = useWebhookChanged()
  const submit = useSubmit()
  const rotate = () =>
    submit.run(async () => {
      setSecret((await rotateWebhook(id)).secret)
      void changed()
    })
  return (
    <Modal
      opened
      size={520}
      title={secret === undefined ? t.webhooks.rotateTitle : t.webhooks.newSecret}
      closeOnClickOutside={false}
      closeOnEscape={secret === undefined && !submit.isBusy}
      closeButtonProps={{ 'aria-label': t.common.close, disabled: submit.isBusy }}
      onClose={onClose}
    >
      {secret === undefined ? (
        <div className="stack">
          <p className="lead">{t.webhooks.rotateMeaning}</p>
          {submit.problem !== undefined && <ProblemView problem={submit.problem} />}
          <div className="dialog-actions">
            <Button variant="default" disabled={submit.isBusy} onClick={onClose}>
              {t.common.cancel}
            </Button>
            <Button loading={submit.isBusy} onClick={() => void rotate()}>
              {t.webhooks.rotate}
            </Button>
          </div>
        </div>
      ) : (
        <SecretView secret={secret} what="secret">
          <p className="lead">{t.webhooks.oldValid}</p>
          <div className="dialog-actions">
            <Button variant="default" onClick={onClose}>
              {t.common.done}
            </Button>
          </div>
        </SecretView>
      )}
    </Modal>
  )
}

function ReplayDialog({ id, row, onClose }: DialogProps) {
  const [choice, setChoice] = useState('beginning')
  const [position, setPosition] = useState(plainText(row['delivered_version']))
  const changed = useWebhookChanged()
  const submit = useSubmit()
  const fault = faultsAt(submit.problem, 'since')
  const replay = () =>
    submit.run(async () => {
      await replayWebhook(id, sinceOf(choice, position))
      await changed()
      onClose()
    })
  return (
    <Modal opened closeOnClickOutside={false} size={480} title={t.webhooks.replayTitle} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void replay()
        }}
      >
        <p className="lead">{t.webhooks.replayMeaning(plainText(row['delivered_version']))}</p>
        <Radio.Group label={t.webhooks.begin} value={choice} onChange={setChoice}>
          <div className="choice-list">
            <Radio size="sm" value="beginning" label={t.webhooks.everyRecord} />
            <Radio size="sm" value="position" label={t.webhooks.afterVersion} />
            <Radio size="sm" value="now" label={t.webhooks.skip} />
          </div>
        </Radio.Group>
        {choice === 'position' && (
          <TextInput
            label={t.webhooks.versionOrCursor}
            spellCheck={false}
            value={position}
            error={fault}
            onChange={(event) => setPosition(event.target.value)}
          />
        )}
        {submit.problem !== undefined && fault === undefined && <ProblemView problem={submit.problem} />}
        <div className="dialog-actions">
          <Button variant="default" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button type="submit" loading={submit.isBusy}>
            {t.webhooks.replay}
          </Button>
        </div>
      </form>
    </Modal>
  )
}

function DeleteDialog({ id, row, onClose, onDeleted }: DialogProps & { readonly onDeleted: () => void }) {
  const changed = useWebhookChanged()
  const url = plainText(row['url'])
  return (
    <ConfirmDialog
      title={t.webhooks.deleteTitle}
      label={t.webhooks.host}
      expected={URL.canParse(url) ? new URL(url).host : url}
      action={t.webhooks.delete}
      onClose={onClose}
      onConfirm={async () => {
        await deleteWebhook(id)
        onDeleted()
        await changed()
      }}
    >
      <p className="lead">{t.webhooks.deleteMeaning(url)}</p>
    </ConfirmDialog>
  )
}
