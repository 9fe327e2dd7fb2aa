import { Alert, Button, Checkbox, Modal, Select, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useRef, useState } from 'react'
import { type Problem, problemFrom } from '../api/exchange.ts'
import { type CreatedKey, createKey, revokeKey, rotateKey } from '../api/manage.ts'
import { randomKey } from '../lib/random-key.ts'
import { CopyButton } from './copy-button.tsx'
import { ProblemView } from './problem-view.tsx'

interface DialogProps {
  readonly onClose: () => void
}

const scopes = [
  ['product:read', 'Read products'],
  ['partner:read', 'Read partners'],
  ['partner:create', 'Create partners'],
  ['company:read', 'Read companies'],
  ['account:manage', 'Manage the account: keys, audit, requests, usage'],
] as const

const lifetimes = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
  { value: 'never', label: 'Never' },
]

const overlaps = [
  { value: '0', label: 'Revoke the old key now' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
  { value: '2592000', label: '30 days' },
]

const dayMs = 86_400_000

export function CreateKeyDialog({ onClose }: DialogProps) {
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState<string[]>(['product:read'])
  const [lifetime, setLifetime] = useState('90')
  const idempotencyKey = useRef(randomKey())
  const change = useKeyChange(async () => {
    const expires =
      lifetime === 'never' ? null : new Date(Date.now() + Number(lifetime) * dayMs).toISOString()
    return await createKey({ name, scopes: chosen, expires_at: expires }, idempotencyKey.current)
  })
  if (change.created !== undefined) return <ShownOnce created={change.created} onClose={onClose} />
  const faultAt = (pointer: string) =>
    change.problem?.errors?.find((fault) => fault.pointer?.startsWith(pointer))?.message
  return (
    <KeyForm title="Create a key" action="Create key" change={change} onClose={onClose}>
      <TextInput
        label="Name"
        description="What the key is for"
        data-autofocus
        value={name}
        error={faultAt('/name')}
        onChange={(event) => setName(event.target.value)}
      />
      <Checkbox.Group label="Scopes" value={chosen} onChange={setChosen} error={faultAt('/scopes')}>
        <div className="choices">
          {scopes.map(([scope, label]) => (
            <Checkbox key={scope} size="xs" value={scope} label={label} description={scope} />
          ))}
        </div>
      </Checkbox.Group>
      <Select
        label="Expires after"
        allowDeselect={false}
        data={lifetimes}
        value={lifetime}
        error={faultAt('/expires_at')}
        onChange={(next) => setLifetime(next ?? '90')}
      />
    </KeyForm>
  )
}

interface KeyDialogProps extends DialogProps {
  readonly keyId: string
  readonly name: string
}

export function RotateKeyDialog({ keyId, name, onClose }: KeyDialogProps) {
  const [overlap, setOverlap] = useState('86400')
  const change = useKeyChange(() => rotateKey(keyId, Number(overlap)))
  if (change.created !== undefined) return <ShownOnce created={change.created} onClose={onClose} />
  return (
    <KeyForm title={`Rotate ${name}`} action="Rotate key" change={change} onClose={onClose}>
      <p>
        A new key with the same name and scopes replaces this one. Until the overlap ends, both are valid.
      </p>
      <Select
        label="The old key stays valid for"
        allowDeselect={false}
        data={overlaps}
        value={overlap}
        onChange={(next) => setOverlap(next ?? '0')}
      />
    </KeyForm>
  )
}

export function RevokeKeyDialog({ keyId, name, onClose }: KeyDialogProps) {
  const [typed, setTyped] = useState('')
  const change = useKeyChange(async () => {
    await revokeKey(keyId)
    onClose()
    return undefined
  })
  return (
    <KeyForm
      title={`Revoke ${name}`}
      action="Revoke key"
      isDangerous
      isDisabled={typed !== name}
      change={change}
      onClose={onClose}
    >
      <p>
        Every program that uses this key gets 401 from its next request on. This cannot be undone. Type{' '}
        <b>{name}</b> to confirm.
      </p>
      <TextInput
        label="Name of the key"
        data-autofocus
        autoComplete="off"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
    </KeyForm>
  )
}

type KeyChange = ReturnType<typeof useKeyChange>

function useKeyChange(send: () => Promise<CreatedKey | undefined>) {
  const queryClient = useQueryClient()
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem>()
  const [created, setCreated] = useState<CreatedKey>()
  const submit = async () => {
    setBusy(true)
    setProblem(undefined)
    try {
      setCreated(await send())
      await queryClient.invalidateQueries({ queryKey: ['list'] })
    } catch (error) {
      setProblem(problemFrom(error))
    } finally {
      setBusy(false)
    }
  }
  return { isBusy, problem, created, submit }
}

interface KeyFormProps extends DialogProps {
  readonly title: string
  readonly action: string
  readonly change: KeyChange
  readonly isDangerous?: boolean
  readonly isDisabled?: boolean
  readonly children: ReactNode
}

function KeyForm({ title, action, change, isDangerous, isDisabled, children, onClose }: KeyFormProps) {
  const isAtField = change.problem?.errors?.some(({ pointer }) => pointer !== undefined) === true
  return (
    <Modal opened onClose={onClose} title={title}>
      <form
        className="dialog"
        onSubmit={(event) => {
          event.preventDefault()
          if (isDisabled !== true) void change.submit()
        }}
      >
        {children}
        {change.problem !== undefined && !isAtField && <ProblemView problem={change.problem} />}
        <div className="row">
          <span className="spacer" />
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            type="submit"
            loading={change.isBusy}
            disabled={isDisabled === true}
            {...(isDangerous === true ? { color: 'red' } : {})}
          >
            {action}
          </Button>
        </div>
      </form>
    </Modal>
  )
}

/** The only time that the key is visible: the service stores its hash. */
function ShownOnce({ created, onClose }: DialogProps & { readonly created: CreatedKey }) {
  const { key, name } = created.data
  return (
    <Modal opened onClose={onClose} title={`The key ${name}`} closeOnClickOutside={false}>
      <div className="dialog">
        <Alert color="yellow" variant="light">
          Copy the key now. It is shown only once: the service stores its hash, not the key.
        </Alert>
        <pre className="code" data-wrap="">
          {key}
        </pre>
        <div className="row">
          <CopyButton label="Copy key" text={() => key} />
          <span className="spacer" />
          <Button onClick={onClose}>Done</Button>
        </div>
      </div>
    </Modal>
  )
}
