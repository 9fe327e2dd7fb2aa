import type { NewField } from '../../api/fields.ts'

/** The fields of the service that an account can make unique. */
export const keyCandidates: Readonly<Record<string, string>> = {
  product: 'default_code',
  partner: 'email',
  company: 'company_code',
}

export const fieldTypes = [
  { value: 'text', label: 'Text' },
  { value: 'integer', label: 'Integer' },
  { value: 'decimal', label: 'Decimal, exact' },
  { value: 'boolean', label: 'Yes or no' },
  { value: 'timestamp', label: 'Date and time' },
] as const

export interface FieldForm {
  readonly resource: string
  /** Whether the form declares a field, or makes one of the service a key. */
  readonly kind: 'new' | 'existing'
  /** Without `x_`. */
  readonly name: string
  readonly type: string
  readonly label: string
  readonly isUnique: boolean
}

/** Only values of these types can be unique. */
export function canBeUnique(type: string): boolean {
  return type === 'text' || type === 'integer'
}

/** The body that declares the field. A person may type the prefix, too. */
export function fieldOf({ resource, kind, name, type, label, isUnique }: FieldForm): NewField {
  if (kind === 'existing') return { resource, name: keyCandidates[resource] ?? '', label, unique: true }
  return {
    resource,
    name: `x_${name.trim().replace(/^x_/, '')}`,
    type,
    label: label.trim(),
    unique: isUnique && canBeUnique(type),
  }
}

/** "Net weight (kg)" → "net_weight_kg": a name for what the field means. */
export function nameFor(label: string): string {
  return label
    .normalize('NFKD')
    .replaceAll('ß', 'ss')
    .toLowerCase()
    .replaceAll(/[\u0300-\u036f]/g, '')
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replace(/^[_0-9]+/, '')
    .replace(/_$/, '')
    .slice(0, 59)
}

const states: Readonly<Record<string, { readonly tone: 'warn' | 'bad'; readonly text: string }>> = {
  building: {
    tone: 'warn',
    text: 'The values of all records are being read. Records can be addressed by the field when its state is ready.',
  },
  duplicates: {
    tone: 'bad',
    text: 'Two records have the same value, so the field is not a key. Correct the values, delete the field and declare it again.',
  },
}

/** What a person should know about the state of a field; undefined if it is ready. */
export function stateNote(state: string): (typeof states)[string] | undefined {
  return states[state]
}
