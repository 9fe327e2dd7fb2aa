import { Button, Radio, TextInput } from '@mantine/core'
import { useState } from 'react'
import { faultsAt, type Submit } from '../../lib/submit.ts'
import { t } from '../../texts/texts.ts'
import { ProblemView } from '../problem-view.tsx'
import { ResourceSelect } from '../resource-select.tsx'

export interface WebhookValues {
  readonly resource: string
  readonly url: string
  readonly filter: string
  readonly fields: string
  readonly since: string
}

interface WebhookFormProps {
  readonly initial: WebhookValues
  /** A webhook that exists keeps its resource; its position is changed by a replay. */
  readonly isNew: boolean
  readonly action: string
  readonly submit: Submit
  readonly onSubmit: (values: WebhookValues) => Promise<void>
  readonly onClose: () => void
}

const members = ['resource', 'url', 'filter', 'fields', 'since']

export function WebhookForm({ initial, isNew, action, submit, onSubmit, onClose }: WebhookFormProps) {
  const [values, setValues] = useState(initial)
  const { problem, isBusy } = submit
  const change = (part: Partial<WebhookValues>) => setValues({ ...values, ...part })
  const faultOf = (member: string) => faultsAt(problem, member)
  const isFieldProblem = members.some((member) => faultOf(member) !== undefined)
  return (
    <form
      className="stack"
      // The service validates; its messages are shown at the fields.
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void onSubmit(values)
      }}
    >
      {isNew && (
        <ResourceSelect
          label={t.webhooks.changesOf}
          value={values.resource}
          error={faultOf('resource')}
          onChange={(resource) => change({ resource })}
        />
      )}
      <TextInput
        label={t.webhooks.url}
        description={t.webhooks.urlMeaning}
        placeholder="https://example.com/hook"
        type="url"
        data-autofocus
        value={values.url}
        error={faultOf('url')}
        onChange={(event) => change({ url: event.target.value })}
      />
      <TextInput
        label={t.filter.filter}
        description={t.webhooks.filterMeaning}
        spellCheck={false}
        value={values.filter}
        error={faultOf('filter')}
        onChange={(event) => change({ filter: event.target.value })}
      />
      <TextInput
        label={t.pages.field}
        description={t.webhooks.fieldsMeaning}
        spellCheck={false}
        value={values.fields}
        error={faultOf('fields')}
        onChange={(event) => change({ fields: event.target.value })}
      />
      {isNew && (
        <BeginChoice value={values.since} error={faultOf('since')} onChange={(since) => change({ since })} />
      )}
      {problem !== undefined && !isFieldProblem && <ProblemView problem={problem} />}
      <div className="dialog-actions">
        <Button variant="default" disabled={isBusy} onClick={onClose}>
          {t.common.cancel}
        </Button>
        <Button type="submit" loading={isBusy}>
          {action}
        </Button>
      </div>
    </form>
  )
}

interface BeginChoiceProps {
  readonly value: string
  readonly error: string | undefined
  readonly onChange: (since: string) => void
}

function BeginChoice({ value, error, onChange }: BeginChoiceProps) {
  return (
    <Radio.Group label={t.webhooks.begin} value={value} error={error} onChange={onChange}>
      <div className="choice-list">
        <Radio size="sm" value="now" label={t.webhooks.nextChange} />
        <Radio size="sm" value="beginning" label={t.webhooks.everyRecord} />
      </div>
    </Radio.Group>
  )
}
