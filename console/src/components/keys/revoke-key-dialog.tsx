import { Button, Modal, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { revokeKey } from '../../api/manage.ts'
import { useSubmit } from '../../lib/submit.ts'
import { signOut } from '../../session.ts'
import { t } from '../../texts/texts.ts'
import { Notice } from '../notice.tsx'
import { ProblemView } from '../problem-view.tsx'

interface RevokeKeyDialogProps {
  readonly keyId: string
  readonly name: string
  /** Whether it is the key of this tab. */
  readonly isOwn: boolean
  readonly onClose: () => void
}

/** Revokes a key after its name was typed. */
export function RevokeKeyDialog({ keyId, name, isOwn, onClose }: RevokeKeyDialogProps) {
  const [typed, setTyped] = useState('')
  const queryClient = useQueryClient()
  const submit = useSubmit()
  const isConfirmed = typed === name
  const revoke = () =>
    submit.run(async () => {
      await revokeKey(keyId)
      onClose()
      if (isOwn) return signOut()
      await queryClient.invalidateQueries({ queryKey: ['list'] })
      await queryClient.invalidateQueries({ queryKey: ['record', 'key'] })
    })
  return (
    <Modal
      opened
      closeOnClickOutside={false}
      size={480}
      title={t.keys.revokeOne(name)}
      closeButtonProps={{ 'aria-label': t.common.close }}
      onClose={onClose}
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (isConfirmed) void revoke()
        }}
      >
        <p className="lead">{t.keys.revokeMeaning}</p>
        {isOwn && (
          <Notice tone="bad" title={t.keys.ownTitle}>
            {t.keys.ownRevoke}
          </Notice>
        )}
        <TextInput
          label={t.keys.nameOf}
          description={t.common.typeToConfirm(name)}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        {submit.problem !== undefined && <ProblemView problem={submit.problem} />}
        <div className="dialog-actions">
          <Button variant="default" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button type="submit" className="danger-filled" disabled={!isConfirmed} loading={submit.isBusy}>
            {t.keys.revokeKey}
          </Button>
        </div>
      </form>
    </Modal>
  )
}
