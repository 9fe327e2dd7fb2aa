import type pg from 'pg'
import { limits } from '../../../limits/limits.ts'
import { type Finding, ok, warning } from '../finding.ts'

/**
 * Keys expire, and log entries and usage have their times, by both clocks: that of the process and that of the database. The time on
 * the way cannot be told from a difference, so only what exceeds it counts.
 */
export async function checkClock(client: pg.Client): Promise<Finding[]> {
  const sentAt = Date.now()
  const { rows } = await client.query<{ ms: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
  )
  return clockFindings(rows[0]?.ms ?? sentAt, sentAt, Date.now())
}

/** In milliseconds since 1970: the clock of the database, and that of this machine before and after it was read. */
export function clockFindings(database: number, sentAt: number, receivedAt: number): Finding[] {
  const skew = database < sentAt ? database - sentAt : database > receivedAt ? database - receivedAt : 0
  if (Math.abs(skew) <= limits.clockSkewMsMax)
    return [ok('database', 'The clocks of this machine and of the database agree.')]
  const seconds = (Math.abs(skew) / 1000).toFixed(1)
  return [
    warning(
      'database',
      `The clock of the database is ${seconds} s ${skew > 0 ? 'ahead of' : 'behind'} this machine: keys expire at another time, and log entries are out of order.`,
      'Synchronise both with NTP, such as chrony, and check that it runs.',
    ),
  ]
}
