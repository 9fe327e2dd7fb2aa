import { Button, Modal, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { Problem } from '../api/exchange.ts'
import { useSubmit } from '../lib/submit.ts'
import { t } from '../texts/texts.ts'
import { ProblemView } from './problem-view.tsx'

interface ConfirmDialogProps {
  readonly title: string
  /** What is typed to confirm, and its label. */
  readonly expected: string
  readonly label: string
  readonly action: string
  readonly onConfirm: () => Promise<void>
  readonly onClose: () => void
  /** What will happen. */
  readonly children: ReactNode
  /** What helps with a problem. */
  readonly help?: (problem: Problem) => ReactNode
}

/** Does something that cannot be undone, after its name was typed. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, expected, label, action, onConfirm, onClose, children, help } = props
  const [typed, setTyped] = useState('')
  const submit = useSubmit()
  const isConfirmed = typed.trim() === expected
  return (
    <Modal opened closeOnClickOutside={false} size={480} title={title} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (isConfirmed) void submit.run(onConfirm)
        }}
      >
        {children}
        <TextInput
          label={label}
          description={t.common.typeToConfirm(expected)}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        {submit.problem !== undefined && (
          <ProblemView problem={submit.problem}>{help?.(submit.problem)}</ProblemView>
        )}
        <div className="dialog-actions">
          <Button variant="default" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button type="submit" className="danger-filled" disabled={!isConfirmed} loading={submit.isBusy}>
            {action}
          </Button>
        </div>
      </form>
    </Modal>
  )
}
