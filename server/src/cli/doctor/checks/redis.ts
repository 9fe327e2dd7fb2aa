import { openRedis } from '../../../accounts/rate-limits/redis-connection.ts'
import type { Config } from '../../../config/config.ts'
import { limits } from '../../../limits/limits.ts'
import { type Finding, ok, problem } from '../finding.ts'

/** Redis is optional: without it, each process counts requests for the rate limits on its own. */
export async function checkRedis({ REDIS_URL: url }: Config): Promise<Finding[]> {
  if (url === undefined) return []
  const { hostname, port } = new URL(url)
  const address = `${hostname}:${port || '6379'}`
  let reason: string | undefined
  const client = openRedis(url, {
    lazyConnect: true,
    connectTimeout: limits.redisConnectMsMax,
    commandTimeout: limits.redisConnectMsMax,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  })
  // The error of the command only says that the connection is closed; the event has the cause.
  client.on('error', (error: Error) => (reason ??= error.message))
  try {
    await client.connect()
    // The rate limiter needs scripts and keys that expire.
    await client.eval(`redis.call('PEXPIRE', KEYS[1], 1) return 1`, 1, 'quartermaster:doctor')
    return [ok('redis', `Redis at ${address} responds: all processes share their rate limits.`)]
  } catch (error) {
    const cause = reason ?? (error instanceof Error ? error.message : String(error))
    return [
      problem(
        'redis',
        `Redis at ${address} cannot be used (${cause}): each process counts requests on its own, so N processes together allow N times the rate limits.`,
        'Start Redis there, correct the address, user and password in REDIS_URL, or unset it.',
      ),
    ]
  } finally {
    client.disconnect()
  }
}
