import type { NewField } from '../../api/fields.ts'
import { t } from '../../texts/texts.ts'

/** The fields of the service that an account can make unique. */
export const keyCandidates: Readonly<Record<string, string>> = {
  product: 'default_code',
  partner: 'email',
  company: 'company_code',
}

export const fieldTypes = () =>
  [
    { value: 'text', label: t.fields.text },
    { value: 'integer', label: t.fields.integer },
    { value: 'decimal', label: t.fields.decimal },
    { value: 'boolean', label: t.fields.boolean },
    { value: 'timestamp', label: t.fields.timestamp },
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

/** What a person should know about the state of a field; undefined if it is ready. */
export function stateNote(state: string) {
  if (state === 'building') return { tone: 'warn', text: t.fields.building } as const
  return state === 'duplicates' ? ({ tone: 'bad', text: t.fields.duplicates } as const) : undefined
}
