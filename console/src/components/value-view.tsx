import type { Field } from '../api/catalog.ts'
import type { Value } from '../api/read.ts'
import { plainText, timestampParts } from '../lib/format.ts'

/** One value of a record, as a cell and in the side panel. */
export function ValueView({ field, value }: { readonly field: Field; readonly value: Value | undefined }) {
  if (value === undefined) return <span className="cell-null">not loaded</span>
  if (value === null) return <span className="cell-null">{nullTexts[field.name] ?? 'null'}</span>
  if (typeof value === 'boolean') return <span className={`cell-${value}`}>{String(value)}</span>
  if (field.type === 'timestamp') {
    const parts = timestampParts(value)
    if (parts !== undefined) {
      return (
        <span className="cell-time">
          {parts[0]} <span>{parts[1]}</span>
        </span>
      )
    }
  }
  if (field.name === 'state')
    return (
      <span className="badge" data-tone={stateTones[String(value)]}>
        {value}
      </span>
    )
  if (field.name === 'status')
    return (
      <span className="badge" data-tone={statusTone(Number(value))}>
        {value}
      </span>
    )
  if (value === '') return <span className="cell-null">empty text</span>
  return plainText(value)
}

const nullTexts: Readonly<Record<string, string>> = { expires_at: 'never', last_used_on: 'never' }

const stateTones: Readonly<Record<string, string>> = {
  active: 'ok',
  rotating: 'warn',
  expired: '',
  revoked: 'bad',
}

export function statusTone(status: number): string {
  if (status >= 500) return 'bad'
  if (status >= 400) return 'warn'
  return status >= 200 && status < 400 ? 'ok' : ''
}
