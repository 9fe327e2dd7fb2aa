import { t } from '../../texts/texts.ts'

interface Status {
  readonly tone: 'ok' | 'warn' | 'bad'
  readonly title: string
  readonly text: string
  /** What the button that activates it is called; undefined if it is active. */
  readonly activate: string | undefined
  /** Whether it can be paused or tested: the receiver has returned a challenge. */
  readonly isVerified: boolean
}

function reasonText(reason: string | null): string {
  if (reason === 'requested') return t.webhooks.requested
  if (reason === 'failing') return t.webhooks.failing
  if (reason === 'gone') return t.webhooks.gone
  if (reason === 'cursor_expired') return t.webhooks.cursorExpired
  return reason === 'query_invalid' ? t.webhooks.queryInvalid : t.webhooks.reasonIs(reason)
}

/** What a webhook does now, and what can be done with it. */
export function statusOf(status: string, reason: string | null): Status {
  if (status === 'active')
    return {
      tone: 'ok',
      title: t.webhooks.active,
      text: t.webhooks.activeMeaning,
      activate: undefined,
      isVerified: true,
    }
  if (status === 'pending')
    return {
      tone: 'warn',
      title: t.webhooks.pending,
      text: t.webhooks.pendingMeaning,
      activate: t.webhooks.verify,
      isVerified: false,
    }
  return {
    tone: reason === 'requested' ? 'warn' : 'bad',
    title: status === 'disabled' ? t.webhooks.disabled : t.webhooks.paused,
    text: reasonText(reason),
    activate: t.webhooks.activate,
    isVerified: true,
  }
}

/** The body of a form: an empty text is no filter, and no fields are all. */
export function queryOf(form: { readonly url: string; readonly filter: string; readonly fields: string }) {
  const names = form.fields.split(/[\s,]+/).filter((name) => name !== '')
  const filter = form.filter.trim()
  return {
    url: form.url.trim(),
    filter: filter === '' ? null : filter,
    fields: names.length === 0 ? null : names,
  }
}

/** Where a replay begins: a number is a version, other texts are sent as they are. */
export function sinceOf(choice: string, typed: string): string | number {
  if (choice !== 'position') return choice
  const text = typed.trim()
  return /^\d{1,15}$/.test(text) ? Number(text) : text
}
