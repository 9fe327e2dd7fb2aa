import { BlockList } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { Checks } from '../accounts/checks.ts'
import { Activity } from '../activity/activity.ts'
import type { Config } from '../config.ts'
import { buildApp } from '../http/app.ts'
import { limits } from '../limits.ts'
import { Store } from '../store/pool.ts'
import type { Tell } from '../telemetry/events.ts'
import { logTo } from '../telemetry/log.ts'
import { untilSignal } from './until-signal.ts'

export interface Service {
  readonly port: number
  /** Lets requests under way finish, then closes what is left. */
  close(): Promise<void>
}

export interface ServeOptions {
  readonly databaseUrl: string
  readonly host: string
  readonly port: number
  readonly tell: Tell
}

export async function startService(config: Config, options: ServeOptions): Promise<Service> {
  const { tell } = options
  setFlagsFromString(`--heap-growing-percent=${limits.heapGrowthPercent}`)
  const store = new Store({
    url: options.databaseUrl,
    role: config.DATABASE_ROLE,
    connectionsMax: config.DATABASE_POOL_MAX,
    readMsMax: config.READ_MS_MAX,
    onBroken: (error) => tell({ kind: 'connection-broken', error }),
  })
  const activity = new Activity(store, tell)
  let stopping = false
  const app = buildApp({
    store,
    doorkeeper: {
      checks: new Checks(store),
      hosts: { serviceDomain: config.SERVICE_DOMAIN, defaultAccount: config.DEFAULT_ACCOUNT },
      trustedProxies: blockList(config.TRUSTED_PROXIES),
    },
    tell: (event) => {
      activity.note(event)
      tell(event)
    },
    isStopping: () => stopping,
  })
  await app.listen({ host: options.host, port: options.port })
  const address = app.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : options.port
  tell({ kind: 'listening', host: options.host, port })
  const close = async () => {
    stopping = true
    const late = setTimeout(() => app.server.closeAllConnections(), limits.shutdownMsMax)
    await app.close()
    clearTimeout(late)
    await activity.close()
    await store.close()
  }
  return { port, close }
}

/** Serves until SIGTERM or SIGINT. */
export async function serve(config: Config, options: { port?: number; host?: string }): Promise<void> {
  const tell = logTo(config.LOG_LEVEL)
  const service = await startService(config, {
    databaseUrl: servingUrl(config),
    host: options.host ?? config.HOST,
    port: options.port ?? config.PORT,
    tell,
  })
  await untilSignal()
  tell({ kind: 'stopping' })
  await service.close()
  tell({ kind: 'stopped' })
}

function servingUrl({ DATABASE_URL: url }: Config): string {
  if (url !== undefined) return url
  throw new Error(
    'DATABASE_URL is not set. Example: DATABASE_URL=postgres://user:password@localhost:5432/quartermaster',
  )
}

function blockList(addresses: string | undefined): BlockList {
  const list = new BlockList()
  for (const entry of (addresses ?? '')
    .split(',')
    .map((a) => a.trim())
    .filter((a) => a !== '')) {
    const [address = '', prefix] = entry.split('/')
    const family = address.includes(':') ? 'ipv6' : 'ipv4'
    try {
      if (prefix === undefined) list.addAddress(address, family)
      else list.addSubnet(address, Number(prefix), family)
    } catch (error) {
      throw new Error(
        `TRUSTED_PROXIES: "${entry}" is neither an IP address nor a network such as 10.0.0.0/8.`,
        {
          cause: error,
        },
      )
    }
  }
  return list
}
