import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'

/** The certificate authority of the server, and the certificate and key of the client, as in `DATABASE_URL`. */
const tlsParameters = { sslrootcert: 'ca', sslcert: 'cert', sslkey: 'key' } as const

export interface RedisTarget {
  /** The URL without the parameters above. */
  readonly url: string
  readonly tls: ConnectionOptions | undefined
}

/** Reads the certificates that a `REDIS_URL` names: ioredis accepts them only as options. */
export function redisTarget(text: string): RedisTarget {
  const url = new URL(text)
  const tls: ConnectionOptions = {}
  for (const [parameter, option] of Object.entries(tlsParameters)) {
    const file = url.searchParams.get(parameter)
    if (file === null) continue
    if (url.protocol !== 'rediss:') throw new RedisUrlWithoutTls(parameter)
    tls[option] = readFileSync(file)
    url.searchParams.delete(parameter)
  }
  return Object.keys(tls).length === 0 ? { url: text, tls: undefined } : { url: url.href, tls }
}

/** The connection would not be encrypted, although the operator expects it to be. */
export class RedisUrlWithoutTls extends Error {
  constructor(parameter: string) {
    super(`it has the parameter ${parameter}, but begins with redis://, which does not use TLS`)
  }
}
