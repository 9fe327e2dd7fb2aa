interface Status {
  readonly tone: 'ok' | 'warn' | 'bad'
  readonly title: string
  readonly text: string
  /** What the button that activates it is called; undefined if it is active. */
  readonly activate: string | undefined
  /** Whether it can be paused or tested: the receiver has returned a challenge. */
  readonly isVerified: boolean
}

const reasons: Readonly<Record<string, string>> = {
  requested: 'An administrator paused it. Activate it to continue where it stopped.',
  failing:
    'Deliveries failed for five days. Repair the receiver, then activate the webhook: it continues where it stopped.',
  gone: 'The receiver responded with 410. If it is back, activate the webhook.',
  cursor_expired: 'The data was restored, so the position no longer exists. Replay it, then activate it.',
  query_invalid: 'A field of its filter or its fields was deleted. Edit the webhook, then activate it.',
}

/** What a webhook does now, and what can be done with it. */
export function statusOf(status: string, reason: string | null): Status {
  if (status === 'active')
    return {
      tone: 'ok',
      title: 'Active',
      text: 'Changes are sent as they happen.',
      activate: undefined,
      isVerified: true,
    }
  if (status === 'pending')
    return {
      tone: 'warn',
      title: 'Not verified yet',
      text: 'Nothing is sent before the receiver has returned a signed challenge. Start it with the secret, then activate the webhook.',
      activate: 'Verify and activate',
      isVerified: false,
    }
  return {
    tone: reason === 'requested' ? 'warn' : 'bad',
    title: status === 'disabled' ? 'Disabled' : 'Paused',
    text: reasons[reason ?? ''] ?? `The reason is ${reason}.`,
    activate: 'Activate',
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
