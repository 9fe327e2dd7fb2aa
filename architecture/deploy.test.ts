import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { BlockList } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { resources } from '../server/src/catalog/resources.ts'
import { batchPath } from '../server/src/http/paths.ts'
import { limits } from '../server/src/limits/limits.ts'
import { defaultLimits } from '../server/src/limits/passed-limits.ts'
import { documented } from './documented.ts'

/** Compares the files that operators copy with the settings and limits of the service. */

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'deploy'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)))

it('every setting in deploy/ exists', () => {
  const settings = new Set(
    [...read('server/src/config/declarations.ts').matchAll(/^ {2}([A-Z_]+):/gm)].map(([, name]) => name),
  )
  expect(settings.size).toBeGreaterThan(20)
  const used = files.flatMap((file) =>
    [...read(file).matchAll(/\b(?:QUARTERMASTER|DATABASE|REDIS|OTEL)_[A-Z_]+\b/g)].map(([name]) => ({
      file,
      name,
    })),
  )
  expect(used.length).toBeGreaterThan(20)
  const notSettings = ['QUARTERMASTER_IMAGE']
  const unknown = used.filter(
    ({ name }) => !settings.has(name.replace(/_FILE$/, '')) && !notSettings.includes(name),
  )
  expect(unknown).toEqual([])
})

it('the PrometheusRule has the groups of the rules file', () => {
  const groups = read('deploy/prometheus/quartermaster.rules.yml').replace(/^(?:#.*\n)+/, '')
  const [, spec = ''] = read('deploy/kubernetes/monitoring/prometheus-rule.yaml').split('\nspec:\n')
  expect(spec.replaceAll(/^ {2}/gm, '')).toBe(groups)
  expect(groups).toContain('alert: QuartermasterDown')
})

it('no file in deploy/ contains a secret', () => {
  // A URL with a password, a private key, a key of the service, or a Secret of Kubernetes. create-secrets.sh reads passwords from files.
  const secret =
    /:\/\/[^\s/:@]+:(?!\$\(cat |…@)[^\s@]+@|BEGIN [A-Z ]*PRIVATE KEY|\bqm_[0-9A-Za-z]{20}|^kind: Secret$/m
  expect(files.filter((file) => secret.test(read(file)))).toEqual([])
})

it('nginx closes idle connections before a process that shuts down does', () => {
  for (const file of ['deploy/nginx/upstream.conf', 'deploy/compose/upstream.conf']) {
    const [, seconds] = /^ +keepalive_timeout (\d+)s;$/m.exec(read(file)) ?? []
    expect(Number(seconds) * 1000).toBeLessThan(limits.shutdownDelayMs)
    expect(read(file)).toMatch(/^ +server \S+ max_fails=0;$/m)
  }
})

it('proxies accept the longest URL and headers, and wait longer than the service', () => {
  const nginx = read('deploy/nginx/quartermaster.conf')
  const [, buffer] = /large_client_header_buffers \d+ (\d+)k;/.exec(nginx) ?? []
  expect(Number(buffer) * 1024).toBeGreaterThan(limits.headerBytesMax)
  const [, wait] = /proxy_read_timeout (\d+)s;/.exec(nginx) ?? []
  const haproxy = read('deploy/haproxy/haproxy.cfg')
  const [, server] = /timeout server (\d+)s/.exec(haproxy) ?? []
  const [, bytes] = /tune.bufsize (\d+)/.exec(haproxy) ?? []
  expect(Number(bytes)).toBeGreaterThan(limits.urlBytesMax + limits.headerBytesMax)
  for (const seconds of [wait, server]) {
    expect(Number(seconds) * 1000).toBeGreaterThan(limits.readMsMax + defaultLimits.silentConnectionMsMax)
  }
})

/** What a process may take after SIGTERM, from its settings and limits. */
const shutdownMs = (delayMs: number) =>
  delayMs + defaultLimits.shutdownMsMax + defaultLimits.activityCloseMsMax

it('supervisors wait until a process has shut down', () => {
  const [, unit] = /^TimeoutStopSec=(\d+)s$/m.exec(read('deploy/systemd/quartermaster.service')) ?? []
  expect(Number(unit) * 1000).toBeGreaterThanOrEqual(shutdownMs(limits.shutdownDelayMs))
  const [, compose] = /stop_grace_period: (\d+)s/.exec(read('deploy/compose.yaml')) ?? []
  expect(Number(compose) * 1000).toBeGreaterThanOrEqual(shutdownMs(limits.shutdownDelayMs))
  const [, pod] =
    /terminationGracePeriodSeconds: (\d+)/.exec(read('deploy/kubernetes/base/deployment.yaml')) ?? []
  const [, delay] =
    /QUARTERMASTER_SHUTDOWN_DELAY_MS=(\d+)/.exec(read('deploy/kubernetes/base/quartermaster.env')) ?? []
  expect(Number(pod) * 1000).toBeGreaterThanOrEqual(shutdownMs(Number(delay)))
})

it('a worker that the kernel kills for lack of memory does not end the others', () => {
  const unit = read('deploy/systemd/quartermaster.service')
  expect(unit).toMatch(/^OOMPolicy=continue$/m)
  expect(unit).toMatch(/^MemoryMax=\d+%$/m)
})

it('units with credentials say that a reload does not refresh them, and so do the documents', () => {
  const unit = read('deploy/systemd/quartermaster.service')
  expect(unit).toMatch(/^LoadCredential=/m)
  expect(unit).toContain('after changing a secret, restart the service')
  for (const file of ['deploy/README.md', 'docs/operating/processes.md'])
    expect(read(file)).toMatch(
      /After changing (?:a secret|one).*`systemctl restart|`systemctl restart.*after changing/i,
    )
})

it('systemd runs the version that a link leads to, so that an upgrade replaces no file of a running process', () => {
  const program = '/opt/quartermaster/current/node_modules/.bin/quartermaster'
  for (const unit of ['quartermaster', 'quartermaster-migrate'])
    expect(read(`deploy/systemd/${unit}.service`)).toContain(`ExecStart=${program} `)
  expect(documented('systemd-current')).toContain(program)
})

it('docs/operating/processes.md shows lines of the systemd unit', () => {
  const unit = read('deploy/systemd/quartermaster.service').split('\n')
  const lines = documented('systemd-unit').trim().split('\n')
  expect(lines.filter((line) => !unit.includes(line))).toEqual([])
})

it('compose.yaml trusts the address of nginx, and no network', () => {
  const compose = read('deploy/compose.yaml')
  const [, trusted = ''] = /QUARTERMASTER_TRUSTED_PROXIES: (\S+)/.exec(compose) ?? []
  const [, fixed] = /^ {2}nginx:\n(?: {4}.*\n)*? +ipv4_address: (\S+)\n/m.exec(compose) ?? []
  expect(trusted).toBe(fixed)
  const [, network = '', bits] = /subnet: ([\d.]+)\/(\d+)/.exec(compose) ?? []
  const subnet = new BlockList()
  subnet.addSubnet(network, Number(bits))
  expect(subnet.check(trusted)).toBe(true)
})

it('proxies replace X-Forwarded-For, and nginx limits or stores no batch', () => {
  const nginx = read('deploy/nginx/quartermaster.conf')
  expect(nginx).toMatch(/^ +proxy_set_header X-Forwarded-For \$remote_addr;$/m)
  expect(nginx).not.toContain('$proxy_add_x_forwarded_for;')
  const haproxy = read('deploy/haproxy/haproxy.cfg')
  expect(haproxy).toMatch(/^ +http-request set-header X-Forwarded-For %\[src\]$/m)
  expect(haproxy).not.toMatch(/^ +option forwardfor/m)
  // The location and the map of the header must match every route of batches, and nothing else.
  const patterns = [...nginx.matchAll(/~ ?(\^\/api\/v1\/\S+batch\$)/g)].map(([, pattern]) => pattern)
  expect(patterns).toHaveLength(2)
  expect(new Set(patterns)).toEqual(new Set(['^/api/v1/[a-z/]+/batch$']))
  const other = Object.values(resources).map((resource) => batchPath(resource))
  expect(other.length).toBeGreaterThan(2)
  expect(other.filter((path) => !/^\/api\/v1\/[a-z/]+\/batch$/.test(path))).toEqual([])
})

it('compose.yaml mounts existing files, and Grafana finds its dashboard', () => {
  const compose = read('deploy/compose.yaml')
  const mounts = [...compose.matchAll(/^ +- \.\/([^:]+):([^:]+):ro$/gm)]
  expect(mounts.length).toBeGreaterThan(5)
  expect(mounts.filter(([, file = '']) => !existsSync(join(root, 'deploy', file)))).toEqual([])
  const [, path = ''] =
    /path: (\S+)/.exec(read('deploy/grafana/provisioning/dashboards/quartermaster.yaml')) ?? []
  expect(mounts.map(([, , target]) => target)).toContain(`${path}/quartermaster.json`)
  const [, port] =
    /^ +url: http:\/\/prometheus:(\d+)$/m.exec(
      read('deploy/grafana/provisioning/datasources/prometheus.yaml'),
    ) ?? []
  expect(compose).toContain(`:${port}\n    volumes:\n      - ./compose/prometheus.yml`)
})
