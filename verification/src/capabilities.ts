import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { postgresBinaries } from '../../server/src/cli/database/find-postgres.ts'
import { prepareMachine } from './chaos/cluster/packages.ts'
import type { Capability, Check } from './check.ts'
import { isCitusInstalled } from './citus/cluster.ts'
import { whyNoOdoo } from './odoo/live-odoo.ts'
import { whyNoContainers } from './ship/containers/podman.ts'
import { whyNotHidden } from './ship/only-node.ts'
import { installed } from './ship/programs.ts'
import { commitBeforeNewestMigrations } from './ship/restarts/release.ts'

/** Returns why the machine lacks it, or undefined if it is there. */
type Probe = () => string | undefined

const program =
  (name: string): Probe =>
  () =>
    installed(name) === undefined ? `no ${name} here` : undefined

/** Plugins with which containers find each other by name: for CNI networks, and for netavark. */
const resolvers = ['/usr/lib/cni/dnsname', '/usr/lib/podman/aardvark-dns', '/usr/libexec/podman/aardvark-dns']

/** Debian's package. */
export const browserPath = '/usr/bin/chromium'

/** The only reasons for which a check may be skipped. Whether one is missing is found out before the check runs. */
const probes: Readonly<Record<Capability, Probe>> = {
  namespaces: prepareMachine,
  mounts: whyNotHidden,
  citus: () => (isCitusInstalled() ? undefined : 'Citus is not installed beside this PostgreSQL'),
  chromium: () => (existsSync(browserPath) ? undefined : `no ${browserPath} here`),
  containers: whyNoContainers,
  'container-names': () => (resolvers.some(existsSync) ? undefined : 'podman has no DNS plugin here'),
  // The server of the npm package comes without it.
  pg_dump: () => (existsSync(join(postgresBinaries(), 'pg_dump')) ? undefined : 'no pg_dump here'),
  history: () =>
    commitBeforeNewestMigrations() === undefined ? 'no commit before the last migrations' : undefined,
  odoo: whyNoOdoo,
  curl: program('curl'),
  haproxy: program('haproxy'),
  java: program('java'),
  kubectl: program('kubectl'),
  nginx: program('nginx'),
  openssl: program('openssl'),
  pg_isready: program('pg_isready'),
  pgbackrest: program('pgbackrest'),
  'podman-compose': program('podman-compose'),
  psql: program('psql'),
  'redis-cli': program('redis-cli'),
  'redis-server': program('redis-server'),
  'systemd-analyze': program('systemd-analyze'),
}

/** Some probes take seconds, and many checks need the same. */
const found = new Map<Capability, string | undefined>()

/** What the machine lacks for a check, as it is printed; undefined if the check can run. A probe that throws fails the check. */
export function missingFor({ needs = [] }: Pick<Check, 'needs'>): string | undefined {
  for (const capability of needs) {
    if (!found.has(capability)) found.set(capability, probes[capability]())
    const reason = found.get(capability)
    if (reason !== undefined) return reason
  }
  return undefined
}
