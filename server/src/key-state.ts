import { sql } from './sql.ts'

export type KeyState = 'active' | 'rotating' | 'expired' | 'revoked'

/** Over the columns of api_key, now. A key that is rotating is as good as an active one until it expires. */
export const keyState = sql`case when revoked_at is not null then 'revoked' when expires_at <= now() then 'expired'
  when rotated_to is not null then 'rotating' else 'active' end`

/** Whether a request with it is accepted, as the check of every request asks it. */
export const keyIsValid = sql`revoked_at is null and (expires_at is null or expires_at > now())`
