import { Button, Modal, Radio } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { selfQuery } from '../../api/access.ts'
import { rotateKey } from '../../api/manage.ts'
import { overlapChoices } from '../../lib/keys/expiry.ts'
import { forgetSelf } from '../../lib/keys/stored-self.ts'
import { type Submit, useSubmit } from '../../lib/submit.ts'
import { signIn } from '../../session.ts'
import { t } from '../../texts/texts.ts'
import { Notice } from '../notice.tsx'
import { ProblemView } from '../problem-view.tsx'
import { SecretView } from './secret-view.tsx'

interface KeyDialogProps {
  readonly keyId: string
  readonly name: string
  /** Whether it is the key of this tab. */
  readonly isOwn: boolean
  readonly onClose: () => void
}

/** Replaces a key by a new one with the same name and scopes, and shows it once. */
export function RotateKeyDialog({ keyId, name, isOwn, onClose }: KeyDialogProps) {
  const [secret, setSecret] = useState<string>()
  const queryClient = useQueryClient()
  const submit = useSubmit()
  const rotate = (overlapSeconds: number) =>
    submit.run(async () => {
      const { data } = await rotateKey(keyId, overlapSeconds)
      setSecret(data.key)
      // Without an overlap, the key of this tab is no longer valid: a request with it would fail.
      if (!isOwn || overlapSeconds > 0) void invalidate()
    })
  const invalidate = async () => {
    await queryClient.invalidateQueries({ queryKey: ['list'] })
    await queryClient.invalidateQueries({ queryKey: ['record', 'key'] })
  }
  const adopt = () => {
    forgetSelf()
    queryClient.removeQueries({ queryKey: selfQuery.queryKey })
    if (secret !== undefined) signIn(secret)
    onClose()
    void invalidate()
  }
  const isRotated = secret !== undefined
  return (
    <Modal
      opened
      size={520}
      title={isRotated ? t.keys.newOf(name) : t.keys.rotateOne(name)}
      // The key is lost if the dialog closes before it was copied, such as by the second click of a double click.
      closeOnClickOutside={false}
      closeOnEscape={!isRotated && !submit.isBusy}
      closeButtonProps={{ 'aria-label': t.common.close, disabled: submit.isBusy }}
      onClose={onClose}
    >
      {isRotated ? (
        <SecretView secret={secret}>
          <div className="dialog-actions">
            {isOwn && (
              <Button variant="light" onClick={adopt}>
                {t.keys.useHere}
              </Button>
            )}
            <Button variant="default" onClick={onClose}>
              {t.common.done}
            </Button>
          </div>
        </SecretView>
      ) : (
        <RotateForm isOwn={isOwn} submit={submit} onSubmit={rotate} onClose={onClose} />
      )}
    </Modal>
  )
}

interface RotateFormProps {
  readonly isOwn: boolean
  readonly submit: Submit
  readonly onSubmit: (overlapSeconds: number) => Promise<void>
  readonly onClose: () => void
}

function RotateForm({ isOwn, submit, onSubmit, onClose }: RotateFormProps) {
  const [overlap, setOverlap] = useState('86400')
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        void onSubmit(Number(overlap))
      }}
    >
      <p className="lead">{t.keys.rotateMeaning}</p>
      {isOwn && <OwnKeyWarning />}
      <Radio.Group
        label={t.keys.overlap}
        description={t.keys.overlapMeaning}
        value={overlap}
        onChange={setOverlap}
      >
        <div className="choice-list">
          {overlapChoices().map(({ value, label }) => (
            <Radio key={value} size="sm" value={value} label={label} />
          ))}
        </div>
      </Radio.Group>
      {submit.problem !== undefined && <ProblemView problem={submit.problem} />}
      <div className="dialog-actions">
        <Button variant="default" disabled={submit.isBusy} onClick={onClose}>
          {t.common.cancel}
        </Button>
        <Button type="submit" loading={submit.isBusy}>
          {t.keys.rotateKey}
        </Button>
      </div>
    </form>
  )
}

function OwnKeyWarning() {
  return (
    <Notice tone="warn" title={t.keys.ownTitle}>
      {t.keys.ownRotate}
    </Notice>
  )
}
