import { NativeSelect } from '@mantine/core'

const resources = [
  { value: 'product', label: 'Products' },
  { value: 'partner', label: 'Partners' },
  { value: 'company', label: 'Companies' },
]

interface ResourceSelectProps {
  readonly label?: string
  readonly value: string
  readonly error: string | undefined
  readonly onChange: (resource: string) => void
}

/** Which records a form is about. */
export function ResourceSelect({ label = 'Records', value, error, onChange }: ResourceSelectProps) {
  return (
    <NativeSelect
      label={label}
      data={resources}
      value={value}
      error={error}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}
