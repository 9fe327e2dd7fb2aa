import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Check } from '../check.ts'
import { Service } from '../service.ts'
import { LargeOdoo } from './large-odoo.ts'
import { connectorProgram } from './odoo-pair.ts'

/** 200 MB with 1,000,000 products. */
const mbMax = (products: number) => 140 + (60 * products) / 1_000_000

/** The most memory that the connector has used: in its first load, and in a later run with all its polls and a sweep. */
export const odooMemory: Check = {
  name: 'odoo_memory',
  bound: '≤ 140 MB and 60 bytes for each product',
  needs: [],
  async run(context) {
    const products = Number(process.env['ODOO_PRODUCTS'] ?? context.size(1_000_000, 50_000))
    const [odoo, service] = await Promise.all([LargeOdoo.start(products), Service.start()])
    try {
      const key = await service.account('large')
      const { port } = await service.serve({ QUARTERMASTER_DEFAULT_ACCOUNT: 'large' })
      const [config, state] = [join(service.folder, 'large.json'), join(service.folder, 'large.state.json')]
      writeFileSync(
        config,
        JSON.stringify({
          odoo: { url: odoo.url, database: 'odoo' },
          quartermaster: { url: `http://127.0.0.1:${port}` },
          resources: { partner: false, company: false },
          polling: { sweep: 20 },
        }),
      )
      const run = async (args: readonly string[], isDone: () => boolean) => {
        const began = Date.now()
        const child = spawn(connectorProgram, ['run', ...args, '--config', config, '--state', state], {
          env: { ...process.env, ODOO_KEY: 'key', QUARTERMASTER_KEY: key },
          stdio: ['ignore', 'ignore', 'pipe'],
        })
        let [log, peak] = ['', 0]
        child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text))
        const ended = new Promise((resolve) => child.once('close', resolve))
        while (child.exitCode === null && !isDone()) {
          peak = Math.max(peak, peakOf(child.pid))
          await sleep(100)
        }
        child.kill('SIGTERM')
        await ended
        if (child.exitCode !== 0) throw new Error(`quartermaster-odoo exited with ${child.exitCode}:\n${log}`)
        return { peak, seconds: (Date.now() - began) / 1000 }
      }
      const first = await run(['--once'], () => false)
      const sweptAt = sweptIn(state)
      // Two sweeps: what the first one leaves behind counts too.
      let [last, sweeps] = [sweptAt, 0]
      const later = await run([], () => {
        const now = sweptIn(state)
        if (now !== undefined && now !== last) [last, sweeps] = [now, sweeps + 1]
        return sweeps >= 2
      })
      const peak = Math.max(first.peak, later.peak)
      return {
        value: `${peak.toFixed(0)} MB with ${products.toLocaleString('en-US')} products`,
        ok: peak <= mbMax(products),
        samples: products,
        note: `first load: ${first.peak.toFixed(0)} MB, ${first.seconds.toFixed(0)} s; later run: ${later.peak.toFixed(0)} MB, ${later.seconds.toFixed(0)} s`,
      }
    } finally {
      await Promise.all([odoo.stop(), service.stop()])
    }
  },
}

/** Resident memory, at most so far, in MB. */
function peakOf(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

function sweptIn(state: string): string | undefined {
  try {
    const { status } = JSON.parse(readFileSync(state, 'utf8'))
    return status.resources.product.sweptAt ?? undefined
  } catch {
    return undefined
  }
}
