import { Button, Modal, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { type Problem, problemFrom } from '../../api/exchange.ts'
import { createPartner } from '../../api/read.ts'
import { randomKey } from '../../lib/random-key.ts'
import { ProblemView } from '../problem-view.tsx'

interface CreatePartnerProps {
  readonly onClose: () => void
  readonly onCreated: (id: number) => void
}

/** Creates one partner, however often the button is clicked: the same name is sent with the same idempotency key. */
export function CreatePartner({ onClose, onCreated }: CreatePartnerProps) {
  const queryClient = useQueryClient()
  const [name, setName] = useState('')
  const [problem, setProblem] = useState<Problem>()
  const [isBusy, setBusy] = useState(false)
  const attempt = useRef({ name: '', key: '' })
  const submit = async () => {
    if (attempt.current.name !== name) attempt.current = { name, key: randomKey() }
    setBusy(true)
    setProblem(undefined)
    try {
      const { body } = await createPartner(name, attempt.current.key)
      await queryClient.invalidateQueries({ queryKey: ['list', 'partner'] })
      onCreated(body.id)
    } catch (error) {
      setProblem(problemFrom(error))
      setBusy(false)
    }
  }
  const fault = problem?.errors?.find(({ pointer }) => pointer === '/name')
  return (
    <Modal opened onClose={onClose} title="Create a partner" size="sm">
      <form
        className="dialog"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <TextInput
          label="Name"
          description="1 to 512 characters. All other fields get their default values."
          data-autofocus
          value={name}
          error={fault?.message}
          onChange={(event) => {
            setName(event.target.value)
            setProblem(undefined)
          }}
        />
        {problem !== undefined && fault === undefined && <ProblemView problem={problem} />}
        <div className="row">
          <span className="spacer" />
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isBusy}>
            Create partner
          </Button>
        </div>
      </form>
    </Modal>
  )
}
