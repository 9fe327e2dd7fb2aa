import { Button, Modal, Radio, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Row, recordQuery } from '../../api/read.ts'
import { changeWebhook, deleteWebhook, replayWebhook, rotateWebhook } from '../../api/webhooks.ts'
import { plainText } from '../../lib/format.ts'
import { faultsAt, useSubmit } from '../../lib/submit.ts'
import { queryOf, sinceOf } from '../../lib/webhooks/webhook-status.ts'
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
    <Modal opened closeOnClickOutside={false} size={520} title="Edit the webhook" onClose={onClose}>
      <WebhookForm
        initial={initial}
        isNew={false}
        action="Save"
        submit={submit}
        onSubmit={change}
        onClose={onClose}
      />
      <p className="field-note">A new URL must be verified again before anything is sent to it.</p>
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
      title={secret === undefined ? 'Rotate the secret' : 'The new secret'}
      closeOnClickOutside={false}
      closeOnEscape={secret === undefined && !submit.isBusy}
      closeButtonProps={{ 'aria-label': 'Close', disabled: submit.isBusy }}
      onClose={onClose}
    >
      {secret === undefined ? (
        <div className="stack">
          <p className="lead">
            For 24 hours messages are signed with both secrets. Give the receiver the new one within that
            time; no message is lost.
          </p>
          {submit.problem !== undefined && <ProblemView problem={submit.problem} />}
          <div className="dialog-actions">
            <Button variant="default" disabled={submit.isBusy} onClick={onClose}>
              Cancel
            </Button>
            <Button loading={submit.isBusy} onClick={() => void rotate()}>
              Rotate secret
            </Button>
          </div>
        </div>
      ) : (
        <SecretView secret={secret} what="secret">
          <p className="lead">The old secret stays valid for 24 hours.</p>
          <div className="dialog-actions">
            <Button variant="default" onClick={onClose}>
              Done
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
    <Modal opened closeOnClickOutside={false} size={480} title="Replay changes" onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void replay()
        }}
      >
        <p className="lead">
          Sends the changes after a position again, with the records as they are now. Version{' '}
          {plainText(row['delivered_version'])} is the last one delivered.
        </p>
        <Radio.Group label="Begin" value={choice} onChange={setChoice}>
          <div className="choice-list">
            <Radio size="sm" value="beginning" label="With every record" />
            <Radio size="sm" value="position" label="After a version or a cursor" />
            <Radio size="sm" value="now" label="With the next change: skip everything until now" />
          </div>
        </Radio.Group>
        {choice === 'position' && (
          <TextInput
            label="Version or cursor"
            spellCheck={false}
            value={position}
            error={fault}
            onChange={(event) => setPosition(event.target.value)}
          />
        )}
        {submit.problem !== undefined && fault === undefined && <ProblemView problem={submit.problem} />}
        <div className="dialog-actions">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={submit.isBusy}>
            Replay
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
      title="Delete the webhook"
      label="Host of the receiver"
      expected={URL.canParse(url) ? new URL(url).host : url}
      action="Delete webhook"
      onClose={onClose}
      onConfirm={async () => {
        await deleteWebhook(id)
        onDeleted()
        await changed()
      }}
    >
      <p className="lead">
        Nothing more is sent to {url}, and its position and secret are lost. To stop it for a while, pause it
        instead.
      </p>
    </ConfirmDialog>
  )
}
