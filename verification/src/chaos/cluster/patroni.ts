import { parse, stringify } from 'yaml'
import { documented } from '../../../../architecture/documented.ts'

interface Settings {
  readonly postgresql: object
}

/** Those of docs/operating/patroni.md, with less memory. */
function settings(): object {
  const documentedSettings: Settings = parse(documented('patroni-settings'))
  return {
    ...documentedSettings,
    postgresql: {
      ...documentedSettings.postgresql,
      parameters: {
        max_connections: 150,
        wal_log_hints: 'on',
        shared_buffers: '64MB',
        // The data folders are small file systems in memory. With less WAL, a standby cannot rejoin if it was away for a minute.
        max_wal_size: '192MB',
        wal_keep_size: '512MB',
        // Without the texts of statements: their errors are part of many faults.
        log_min_error_statement: 'panic',
      },
    },
  }
}

export const passwords = {
  superuser: 'super-password',
  replication: 'replication-password',
  rewind: 'rewind-password',
}

export interface PatroniNode {
  readonly name: string
  readonly address: string
  readonly folder: string
  readonly binFolder: string
  readonly dataFolder: string
  readonly etcdHosts: readonly string[]
  readonly networkRange: string
}

export const scope = 'quartermaster'

/** The configuration file of one node. */
export function patroniConfig(node: PatroniNode): string {
  const { name, address, folder, binFolder, dataFolder, etcdHosts, networkRange } = node
  return stringify({
    scope,
    name,
    restapi: { listen: `${address}:8008`, connect_address: `${address}:8008` },
    etcd3: { hosts: etcdHosts.join() },
    watchdog: { mode: 'off' },
    bootstrap: {
      dcs: settings(),
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
    },
    postgresql: {
      listen: `${address}:5432`,
      connect_address: `${address}:5432`,
      data_dir: dataFolder,
      bin_dir: binFolder,
      pgpass: `${folder}/pgpass`,
      authentication: {
        superuser: { username: 'postgres', password: passwords.superuser },
        replication: { username: 'replicator', password: passwords.replication },
        rewind: { username: 'rewinder', password: passwords.rewind },
      },
      parameters: { unix_socket_directories: folder },
      pg_hba: [
        'local all all peer',
        `host all all ${networkRange} scram-sha-256`,
        `host replication replicator ${networkRange} scram-sha-256`,
      ],
    },
  })
}

export interface Member {
  readonly name: string
  readonly role: string
  readonly state: string
  readonly lag?: number | string
  readonly timeline?: number
}

/** Patroni's REST interface of one node. */
export class PatroniApi {
  readonly #base: string

  constructor(address: string) {
    this.#base = `http://${address}:8008`
  }

  /** The members as this node sees them, or none if it does not respond. */
  async members(): Promise<readonly Member[]> {
    const answer = await this.#request<{ members?: Member[] }>('/cluster')
    return answer?.members ?? []
  }

  async isPrimary(): Promise<boolean> {
    return (await this.#request('/primary')) !== undefined
  }

  async configure(change: object): Promise<void> {
    await this.#request('/config', { method: 'PATCH', body: JSON.stringify(change) })
  }

  async #request<T>(path: string, init: RequestInit = {}): Promise<T | undefined> {
    try {
      const response = await fetch(this.#base + path, { ...init, signal: AbortSignal.timeout(2_000) })
      const text = await response.text()
      if (!response.ok) return undefined
      const parsed: T = JSON.parse(text)
      return parsed
    } catch {
      return undefined
    }
  }
}
