import { Button, Checkbox, Modal, SegmentedControl, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { createKey, type NewKey } from '../../api/manage.ts'
import { expiryChoices, expiryOf } from '../../lib/keys/expiry.ts'
import { scopes } from '../../lib/keys/scopes.ts'
import { useRetryKey } from '../../lib/retry-key.ts'
import { faultsAt, type Submit, useSubmit } from '../../lib/submit.ts'
import { exactTime, inDays } from '../../lib/time.ts'
import { t } from '../../texts/texts.ts'
import { ProblemView } from '../problem-view.tsx'
import { SecretView } from './secret-view.tsx'

/** Creates a key and shows it once. */
export function CreateKeyDialog({ onClose }: { readonly onClose: () => void }) {
  const [secret, setSecret] = useState<string>()
  const queryClient = useQueryClient()
  const submit = useSubmit()
  const retryKey = useRetryKey()
  const create = (key: NewKey) =>
    submit.run(async () => {
      const { data } = await createKey(key, retryKey(JSON.stringify(key)))
      setSecret(data.key)
      void queryClient.invalidateQueries({ queryKey: ['list'] })
    })
  const isCreated = secret !== undefined
  return (
    <Modal
      opened
      size={520}
      title={isCreated ? t.keys.created : t.record.createTitle(t.nouns.key.one)}
      // The key is lost if the dialog closes before it was copied, such as by the second click of a double click.
      closeOnClickOutside={false}
      closeOnEscape={!isCreated && !submit.isBusy}
      closeButtonProps={{ 'aria-label': t.common.close, disabled: submit.isBusy }}
      onClose={onClose}
    >
      {isCreated ? (
        <SecretView secret={secret}>
          <div className="dialog-actions">
            <Button variant="default" onClick={onClose}>
              {t.common.done}
            </Button>
          </div>
        </SecretView>
      ) : (
        <KeyForm submit={submit} onSubmit={create} onClose={onClose} />
      )}
    </Modal>
  )
}

interface KeyFormProps {
  readonly submit: Submit
  readonly onSubmit: (key: NewKey) => Promise<void>
  readonly onClose: () => void
}

function KeyForm({ submit, onSubmit, onClose }: KeyFormProps) {
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState<readonly string[]>(['product:read'])
  const [expiry, setExpiry] = useState<Expiry>({ choice: '90', date: '' })
  // The time of a preset counts from the opening of the form, so that every attempt sends the same.
  const [openedAt] = useState(Date.now)
  const { problem, isBusy } = submit
  const expiresAt = expiryOf(expiry.choice, expiry.date, openedAt)
  const isFieldProblem = ['name', 'scopes', 'expires_at'].some((member) => faultsAt(problem, member))
  return (
    <form
      className="stack"
      // The service validates; its messages are shown at the fields.
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void onSubmit({ name: name.trim(), scopes: chosen, expires_at: expiresAt })
      }}
    >
      <TextInput
        label={t.common.name}
        description={t.keys.nameMeaning}
        data-autofocus
        maxLength={100}
        value={name}
        error={faultsAt(problem, 'name')}
        onChange={(event) => setName(event.target.value)}
      />
      <ScopesField chosen={chosen} error={faultsAt(problem, 'scopes')} onChange={setChosen} />
      <ExpiryField
        expiry={expiry}
        note={expiryNote(expiry.choice, expiresAt)}
        error={faultsAt(problem, 'expires_at')}
        dateMin={inDays(1, openedAt).slice(0, 10)}
        onChange={setExpiry}
      />
      {problem !== undefined && !isFieldProblem && <ProblemView problem={problem} />}
      <div className="dialog-actions">
        <Button variant="default" disabled={isBusy} onClick={onClose}>
          {t.common.cancel}
        </Button>
        <Button type="submit" loading={isBusy}>
          {t.keys.create}
        </Button>
      </div>
    </form>
  )
}

interface ScopesFieldProps {
  readonly chosen: readonly string[]
  readonly error: string | undefined
  readonly onChange: (chosen: readonly string[]) => void
}

function ScopesField({ chosen, error, onChange }: ScopesFieldProps) {
  return (
    <Checkbox.Group
      label={t.keys.scopes}
      description={t.keys.scopesMeaning}
      value={[...chosen]}
      error={error}
      onChange={onChange}
    >
      <div className="scope-list">
        {scopes.map((name) => (
          <Checkbox
            key={name}
            size="sm"
            value={name}
            label={t.scopes[name].label}
            description={
              <>
                <code>{name}</code> {t.scopes[name].text}
              </>
            }
          />
        ))}
      </div>
    </Checkbox.Group>
  )
}

interface Expiry {
  /** One of `expiryChoices`. */
  readonly choice: string
  /** If the choice is a date. */
  readonly date: string
}

interface ExpiryFieldProps {
  readonly expiry: Expiry
  readonly note: string
  readonly error: string | undefined
  readonly dateMin: string
  readonly onChange: (expiry: Expiry) => void
}

function ExpiryField({ expiry, note, error, dateMin, onChange }: ExpiryFieldProps) {
  return (
    <div>
      <div className="field-label" id="expiry-label">
        {t.keys.expires}
      </div>
      <SegmentedControl
        fullWidth
        size="xs"
        aria-labelledby="expiry-label"
        data={[...expiryChoices()]}
        value={expiry.choice}
        onChange={(choice) => onChange({ ...expiry, choice })}
      />
      {expiry.choice === 'date' && (
        <TextInput
          mt={8}
          type="date"
          label={t.keys.expiryDate}
          min={dateMin}
          value={expiry.date}
          onChange={(event) => onChange({ ...expiry, date: event.target.value })}
        />
      )}
      <p className={error === undefined ? 'field-note' : 'field-note field-error'}>{error ?? note}</p>
    </div>
  )
}

function expiryNote(choice: string, expiresAt: string | null): string {
  if (expiresAt === null) return t.keys.neverExpires
  if (choice === 'date') return t.keys.expiresOnDay
  return t.keys.expiresAt(exactTime(expiresAt))
}
