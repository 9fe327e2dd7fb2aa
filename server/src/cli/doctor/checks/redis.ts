import { Redis } from 'ioredis'
import type { Config } from '../../../config.ts'
import { limits } from '../../../limits.ts'
import { type Finding, ok, problem } from '../finding.ts'

/** Without Redis every process counts alone, so it is only looked for where one is named. */
export async function checkRedis({ REDIS_URL: url }: Config): Promise<Finding[]> {
  if (url === undefined) return []
  const { hostname, port } = new URL(url)
  const place = `${hostname}:${port || '6379'}`
  let reason: string | undefined
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: limits.redisConnectMsMax,
    commandTimeout: limits.redisConnectMsMax,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  })
  // The command says only that the connection is closed; the event says why.
  client.on('error', (error: Error) => (reason ??= error.message))
  try {
    await client.connect()
    // As the service does it: counting needs scripts and keys that expire.
    await client.eval(`redis.call('PEXPIRE', KEYS[1], 1) return 1`, 1, 'quartermaster:doctor')
    return [ok('redis', `Redis at ${place} answers: all processes count requests together.`)]
  } catch (error) {
    const why = reason ?? (error instanceof Error ? error.message : String(error))
    return [
      problem(
        'redis',
        `Redis at ${place} cannot be used (${why}): every process counts requests alone, so rate limits are as many times as high.`,
        'Start Redis there, set REDIS_URL to the right place, with its user and password, or unset it.',
      ),
    ]
  } finally {
    client.disconnect()
  }
}
