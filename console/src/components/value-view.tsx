import type { ReactNode } from 'react'
import type { Field } from '../api/catalog.ts'
import type { Value } from '../api/read.ts'
import { contactLink, groupedDecimal, isAmount, plainText } from '../lib/format.ts'
import { exactTime, localParts } from '../lib/time.ts'
import { t } from '../texts/texts.ts'
import { ExpiryView, TimeView } from './time-view.tsx'

/** One value of a record, as a cell and in the side panel. Not a component: a view has hundreds of them. */
export function valueView(field: Field, value: Value | undefined): ReactNode {
  if (value === undefined) return <span className="cell-null">{t.record.notLoaded}</span>
  if (field.name === 'expires_at' && value !== null) return <ExpiryView value={String(value)} />
  if (value !== null && relativeFields.has(field.name)) return <TimeView value={String(value)} />
  if (value === null) return <span className="cell-null">{nullText(field.name)}</span>
  if (typeof value === 'boolean') return <BooleanView value={value} />
  if (field.type === 'timestamp') return <LocalTime value={String(value)} />
  if (field.name === 'scopes' && Array.isArray(value)) return <ScopesView scopes={value} />
  if (field.name === 'state')
    return (
      <span className="badge" data-tone={stateTones[String(value)]}>
        {value}
      </span>
    )
  if (field.name === 'status')
    return (
      <span className="badge" data-tone={stateTones[String(value)] ?? statusTone(Number(value))}>
        {value}
      </span>
    )
  if (value === '') return <span className="cell-null">{t.record.emptyText}</span>
  const text = plainText(value)
  if (isAmount(field)) return groupedDecimal(text)
  const href = contactLink(field, text)
  if (href === undefined) return text
  return (
    <a className="cell-link" href={href} draggable={false}>
      {text}
    </a>
  )
}

/** A person scans a column for marks; a screen reader says what they mean. */
function BooleanView({ value }: { readonly value: boolean }) {
  return (
    <span className={`cell-${value}`} role="img" aria-label={value ? t.common.yes : t.common.no}>
      {value ? '✓' : '–'}
    </span>
  )
}

/** In the time zone of this browser. UTC, in which filters compare, is in the tooltip. */
function LocalTime({ value }: { readonly value: string }) {
  const parts = localParts(value)
  if (parts === undefined) return value
  return (
    <time className="cell-time" dateTime={value} title={exactTime(value)}>
      {t.time.day(parts[0])} <span>{parts[1]}</span>
    </time>
  )
}

function nullText(name: string): string {
  if (name === 'expires_at' || name === 'last_used_on') return t.record.never
  return name === 'error' ? t.record.none : 'null'
}

/** The scope of administrators first: it is the one that a person looks for. */
function ScopesView({ scopes }: { readonly scopes: readonly string[] }) {
  const others = scopes.filter((scope) => scope !== 'account:manage')
  return (
    <span>
      {scopes.includes('account:manage') && (
        <>
          <span className="badge" data-tone="accent">
            account:manage
          </span>{' '}
        </>
      )}
      {others.join(', ')}
    </span>
  )
}

/** Times of a key, of which a person wants to know how long ago they are. */
const relativeFields = new Set(['created_at', 'revoked_at', 'last_used_on'])

const stateTones: Readonly<Record<string, string>> = {
  active: 'ok',
  rotating: 'warn',
  expired: '',
  revoked: 'bad',
  ready: 'ok',
  building: 'warn',
  duplicates: 'bad',
  pending: 'warn',
  paused: 'warn',
  disabled: 'bad',
}

export function statusTone(status: number): string {
  if (status >= 500) return 'bad'
  if (status >= 400) return 'warn'
  return status >= 200 && status < 400 ? 'ok' : ''
}
