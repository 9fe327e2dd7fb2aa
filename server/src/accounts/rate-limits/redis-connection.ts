import { Redis, type RedisOptions } from 'ioredis'
import { redisTarget } from './redis-target.ts'

/** Connects to the Redis of a `REDIS_URL`, with the certificates that it names. */
export function openRedis(text: string, options: Omit<RedisOptions, 'replyMapping'>): Redis {
  const { url, tls } = redisTarget(text)
  return tls === undefined ? new Redis(url, options) : new Redis(url, { ...options, tls })
}
