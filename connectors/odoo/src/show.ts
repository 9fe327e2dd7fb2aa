import { type Plan, percentile, type Status, table } from '@quartermaster/sync'

export function statusText(status: Status): string {
  const head = table([
    ['phase', status.phase],
    ['updated', status.updatedAt],
    ['problem', status.problem ?? 'none'],
    [
      'calls to Odoo',
      `${status.calls.count}, ${status.calls.seconds.toFixed(1)} s since ${status.startedAt}`,
    ],
    ['created in Odoo', String(status.births.given)],
    ['changes sent to Odoo', String(status.updates.sent)],
  ])
  const columns = [
    '',
    'records',
    'compared',
    'inserted',
    'updated',
    'deleted',
    'rejected',
    'hidden',
    'lag p95',
  ]
  const rows = Object.entries(status.resources).map(([name, one]) => [
    name,
    one.records,
    one.compared,
    one.inserted,
    one.updated,
    one.deleted,
    one.rejected,
    one.hidden,
    one.lags.length === 0 ? '–' : `${(percentile(one.lags, 0.95) ?? 0).toFixed(1)} s`,
  ])
  const refused = Object.entries(status.births.refused).map(([id, fault]) => [`partner ${id}`, fault])
  const conflicts = Object.entries(status.updates.conflicts).map(([id, text]) => [`partner ${id}`, text])
  const list = (title: string, lines: string[][]) =>
    lines.length === 0 ? '' : `\n${title}:\n${table(lines)}`
  return [
    `${head}\n${table([columns, ...rows])}`,
    list('Not created in Odoo', refused),
    list('Changed on both sides, by the id in Odoo', conflicts),
  ].join('')
}

export function planText(plans: readonly Plan[], births: number | undefined): string {
  const columns = ['', 'Odoo', 'here', 'insert', 'update', 'equal', 'delete', 'hidden']
  const rows = plans.map((one) => [
    one.resource,
    one.source,
    one.here,
    one.inserts,
    one.updates,
    one.equal,
    one.deletes,
    one.hidden,
  ])
  const examples = plans.flatMap(({ resource, examples: { inserts, updates, deletes } }) =>
    [
      [`${resource} insert`, inserts.join(', ')],
      [`${resource} update`, updates.join(', ')],
      [`${resource} delete`, deletes.join(', ')],
    ].filter(([, ids]) => ids !== ''),
  )
  const asking = plans
    .filter(({ asks }) => asks)
    .map(
      ({ resource, deletes }) =>
        `A run stops before it deletes ${deletes} of ${resource}: --allow-deletes ${deletes}\n`,
    )
  return [
    table([columns, ...rows]),
    births === undefined ? '' : `\nPartners to create in Odoo: ${births}\n`,
    examples.length === 0 ? '' : `\nOdoo ids, for example\n${table(examples, '  ')}`,
    ...asking,
  ].join('')
}
