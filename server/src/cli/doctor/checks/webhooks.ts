import type pg from 'pg'
import type { Config } from '../../../config/config.ts'
import { limits } from '../../../limits/limits.ts'
import { masterKeysOf } from '../../../webhooks/signature.ts'
import { type Finding, ok, problem } from '../finding.ts'

interface Count {
  readonly key: string
  readonly count: number
  /** Those whose secret before the last rotation still signs. */
  readonly before: boolean
}

/** Counts the webhooks whose secret is derived from another master key than the current one. */
export async function checkWebhooks(client: pg.Client, config: Config): Promise<Finding[]> {
  const keys = masterKeysOf(config.QUARTERMASTER_WEBHOOK_SECRET, config.QUARTERMASTER_WEBHOOK_SECRET_PREVIOUS)
  if (keys === undefined) return []
  const { current, previous } = keys
  const unrecorded = (previous ?? current).fingerprint
  const { rows } = await client.query<Count>(
    `select coalesce(master_key, $1) as key, count(*)::int as count, false as before from webhook group by 1
      union all
     select coalesce(master_key_before, $1), count(*)::int, true from webhook
      where rotated_at > now() - make_interval(hours => $2) group by 1`,
    [unrecorded, limits.webhookRotationHours],
  )
  const counted = (wanted: boolean, matches: (key: string) => boolean) =>
    rows.reduce((sum, { key, count, before }) => (before === wanted && matches(key) ? sum + count : sum), 0)
  const isPrevious = (key: string) => key === previous?.fingerprint
  const lost = counted(false, (key) => key !== current.fingerprint && !isPrevious(key))
  const findings: Finding[] = []
  if (lost > 0) {
    findings.push(
      problem(
        'webhooks',
        `${webhooks(lost)} a secret that is derived from a master key that is not set, so nothing is sent to their receivers.`,
        'Set QUARTERMASTER_WEBHOOK_SECRET_PREVIOUS to that key; or rotate the secrets, and configure the receivers with the new ones.',
      ),
    )
  }
  if (previous === undefined) return findings
  const left = counted(false, isPrevious)
  const overlapping = counted(true, isPrevious)
  const message =
    left > 0
      ? `${webhooks(left)} a secret of the previous master key (${previous.fingerprint}): rotate it before you unset QUARTERMASTER_WEBHOOK_SECRET_PREVIOUS.`
      : overlapping > 0
        ? `Every webhook has a secret of the current master key. ${webhooks(overlapping)} been rotated in the last ${limits.webhookRotationHours} hours: until then the previous master key is needed.`
        : 'No webhook needs the previous master key: unset QUARTERMASTER_WEBHOOK_SECRET_PREVIOUS.'
  return [...findings, ok('webhooks', message)]
}

function webhooks(count: number): string {
  return count === 1 ? '1 webhook has' : `${count} webhooks have`
}
