import { useQuery } from '@tanstack/react-query'
import { selfQuery } from '../../api/access.ts'
import { recordQuery } from '../../api/read.ts'
import { CreateKeyDialog } from './create-key-dialog.tsx'
import { RevokeKeyDialog } from './revoke-key-dialog.tsx'
import { RotateKeyDialog } from './rotate-key-dialog.tsx'

interface KeyDialogsProps {
  /** `create`, `rotate` or `revoke`, from the URL. */
  readonly dialog: string | undefined
  /** The id of the key to change. */
  readonly keyId: string | undefined
  readonly onClose: () => void
}

export function KeyDialogs({ dialog, keyId, onClose }: KeyDialogsProps) {
  if (dialog === 'create') return <CreateKeyDialog onClose={onClose} />
  if ((dialog !== 'rotate' && dialog !== 'revoke') || keyId === undefined) return null
  return <ChangeDialog key={keyId} dialog={dialog} keyId={keyId} onClose={onClose} />
}

function ChangeDialog(props: {
  readonly dialog: 'rotate' | 'revoke'
  readonly keyId: string
  readonly onClose: () => void
}) {
  const { dialog, keyId, onClose } = props
  const isOwn = useQuery(selfQuery).data?.key_id === keyId
  const { data } = useQuery(recordQuery('key', keyId))
  if (data === undefined) return null
  const about = { keyId, name: String(data.body['name']), isOwn, onClose }
  return dialog === 'rotate' ? <RotateKeyDialog {...about} /> : <RevokeKeyDialog {...about} />
}
