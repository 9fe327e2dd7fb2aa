import { Button, Modal, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { revokeKey } from '../../api/manage.ts'
import { useSubmit } from '../../lib/submit.ts'
import { signOut } from '../../session.ts'
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
      title={`Revoke ${name}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
      onClose={onClose}
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (isConfirmed) void revoke()
        }}
      >
        <p className="lead">
          The next request with this key is rejected. A revoked key cannot be made valid again; rotate it
          instead if the integration is still in use.
        </p>
        {isOwn && (
          <Notice tone="bad" title="You are signed in with this key">
            You will be signed out. If no other key has the scope account:manage, only your operator can
            create one.
          </Notice>
        )}
        <TextInput
          label="Name of the key"
          description={`Type ${name} to confirm.`}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        {submit.problem !== undefined && <ProblemView problem={submit.problem} />}
        <div className="dialog-actions">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" className="danger-filled" disabled={!isConfirmed} loading={submit.isBusy}>
            Revoke key
          </Button>
        </div>
      </form>
    </Modal>
  )
}
