import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { documented } from '../../../architecture/documented.ts'
import { freePort } from '../../../server/src/cli/database/temporary-postgres.ts'
import type { Check, Context } from '../check.ts'
import { Service } from '../service.ts'

const rules = fileURLToPath(new URL('../../../deploy/prometheus/', import.meta.url))
const expected = 'QuartermasterNotReady'
const run = promisify(execFile)

interface Alert {
  readonly state: string
  readonly labels: { readonly alertname: string; readonly severity: string }
}

/** Prometheus with the rules of `deploy/` scrapes a running service: no alert fires before the database stops, and the expected one does after. */
export const alertFires: Check = {
  name: 'alert_fires',
  bound: `${expected} fires`,
  async run(context) {
    const service = await Service.start()
    let prometheus: ChildProcess | undefined
    try {
      await run('bash', ['-ec', documented('check-rules')], { cwd: rules })
      const adminPort = await freePort()
      await service.serve({ QUARTERMASTER_ADMIN_PORT: String(adminPort) })
      const port = await freePort()
      prometheus = startPrometheus(context, service.folder, port, adminPort)
      const base = `http://127.0.0.1:${port}`
      await until(120, async () => (await value(base, 'quartermaster_ready')) === 1)
      await sleep(context.size(40, 6) * 1000)
      const before = await firing(base)
      const healthy = await areRulesHealthy(base)
      await service.postgres.stop()
      const stoppedAt = performance.now()
      const fired = await until(300, async () =>
        (await firing(base)).find(({ labels }) => labels.alertname === expected),
      )
      const seconds = (performance.now() - stoppedAt) / 1000
      return {
        value:
          fired === undefined
            ? 'nothing fired in 300 s'
            : `after ${seconds.toFixed(0)} s, ${fired.labels.severity}`,
        samples: 1,
        ok: fired !== undefined && before.length === 0 && healthy,
        note:
          before.length === 0
            ? 'no alert before the database stopped'
            : `alerts before: ${JSON.stringify(before)}`,
      }
    } finally {
      await kill(prometheus)
      await service.stop()
    }
  },
}

/** With `--quick`, every `for:` of the rules is shortened to 5 s. */
function startPrometheus(context: Context, folder: string, port: number, adminPort: number): ChildProcess {
  const text = readFileSync(join(rules, 'quartermaster.rules.yml'), 'utf8')
  const file = join(folder, 'rules.yml')
  writeFileSync(file, context.quick ? text.replaceAll(/^( +for:) \S+$/gm, '$1 5s') : text)
  const config = join(folder, 'prometheus.yml')
  const settings = {
    global: { scrape_interval: '2s', scrape_timeout: '2s', evaluation_interval: '1s' },
    rule_files: [file],
    scrape_configs: [
      { job_name: 'quartermaster', static_configs: [{ targets: [`127.0.0.1:${adminPort}`] }] },
    ],
  }
  // JSON is valid YAML.
  writeFileSync(config, JSON.stringify(settings))
  const data = join(folder, 'prometheus')
  mkdirSync(data)
  const log = openSync(join(folder, 'prometheus.log'), 'a')
  const child = spawn(
    'prometheus',
    [`--config.file=${config}`, `--storage.tsdb.path=${data}`, `--web.listen-address=127.0.0.1:${port}`],
    { stdio: ['ignore', log, log] },
  )
  closeSync(log)
  process.once('exit', () => child.kill('SIGKILL'))
  return child
}

async function kill(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null) return
  const exit = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await exit
}

async function api<T>(base: string, path: string): Promise<T | undefined> {
  try {
    const response = await fetch(`${base}/api/v1/${path}`)
    const body: { data?: T } = JSON.parse(await response.text())
    return body.data
  } catch {
    return undefined
  }
}

async function firing(base: string): Promise<readonly Alert[]> {
  const all = (await api<{ alerts: Alert[] }>(base, 'alerts'))?.alerts ?? []
  return all.filter(({ state }) => state === 'firing')
}

/** Whether all rules are loaded and evaluated without an error. */
async function areRulesHealthy(base: string): Promise<boolean> {
  const found = await api<{ groups: { rules: { health: string }[] }[] }>(base, 'rules')
  const all = found?.groups.flatMap((group) => group.rules) ?? []
  return all.length > 10 && all.every(({ health }) => health === 'ok')
}

async function value(base: string, expression: string): Promise<number | undefined> {
  const found = await api<{ result: { value: [number, string] }[] }>(
    base,
    `query?query=${encodeURIComponent(expression)}`,
  )
  const text = found?.result[0]?.value[1]
  return text === undefined ? undefined : Number(text)
}

/** Polls every 250 ms until there is a result. */
async function until<T>(seconds: number, poll: () => Promise<T | undefined | false>): Promise<T | undefined> {
  const end = Date.now() + seconds * 1000
  while (Date.now() < end) {
    const found = await poll()
    if (found !== undefined && found !== false) return found
    await sleep(250)
  }
  return undefined
}
