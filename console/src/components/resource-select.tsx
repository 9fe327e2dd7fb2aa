import { NativeSelect } from '@mantine/core'
import { t } from '../texts/texts.ts'

const resources = ['product', 'partner', 'company'] as const

interface ResourceSelectProps {
  readonly label?: string
  readonly value: string
  readonly error: string | undefined
  readonly onChange: (resource: string) => void
}

/** Which records a form is about. */
export function ResourceSelect({ label = t.common.records, value, error, onChange }: ResourceSelectProps) {
  return (
    <NativeSelect
      label={label}
      data={resources.map((name) => ({ value: name, label: t.pages[name] }))}
      value={value}
      error={error}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}
