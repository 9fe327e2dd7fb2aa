import { sql } from './sql.ts'

export type KeyState = 'active' | 'rotating' | 'expired' | 'revoked'

/** Conditions on the columns of api_key. Every statement that depends on a key's state is built from these. */
const isRevoked = sql`revoked_at is not null`
const isExpired = sql`(expires_at is not null and expires_at <= now())`

/** A `rotating` key has been replaced by a new one. It is accepted until it expires. */
export const keyState = sql`case when ${isRevoked} then 'revoked' when ${isExpired} then 'expired'
  when rotated_to is not null then 'rotating' else 'active' end`

/** Whether requests with this key are accepted: its state is `active` or `rotating`. */
export const keyIsValid = sql`not (${isRevoked} or ${isExpired})`
