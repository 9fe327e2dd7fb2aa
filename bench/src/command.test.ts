import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'

const program = fileURLToPath(new URL('broken-suite.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'quartermaster-broken-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs the command in a process of its own, on a machine without programs. */
function bench(...args: string[]): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, folder, ...args], {
    encoding: 'utf8',
    env: { PATH: folder },
  })
  return { code: status, out: stdout, err: stderr }
}

it('passes if every benchmark has measured something', () => {
  const { code, out } = bench('good')
  expect(out).toMatch(/^works +1\.00 +≤ 2 +ok\ngood: 1 passed, 0 failed, 0 skipped\n$/)
  expect(code).toBe(0)
})

it('leaves the chart in docs alone unless it measures all ratios', () => {
  const chart = fileURLToPath(new URL('../../docs/bench.svg', import.meta.url))
  const before = readFileSync(chart, 'utf8')
  bench('good')
  expect(readFileSync(chart, 'utf8')).toBe(before)
  expect(readFileSync(join(folder, 'bench.svg'), 'utf8')).toContain('The service and its baselines')
})

it('fails if a benchmark throws, and names the cause', () => {
  const { code, out, err } = bench('thrown')
  expect(out).toMatch(/^throws +not measured +≤ 2 +FAILED$/m)
  expect(out).toMatch(/^thrown: 1 passed, 1 failed, 0 skipped$/m)
  expect(err).toContain('no server')
  expect(code).toBe(1)
})

it('fails if a benchmark has measured nothing', () => {
  const { code, out } = bench('empty')
  expect(out).toMatch(/^measures_nothing +0\.00 +≤ 2 +FAILED$/m)
  expect(code).toBe(1)
})
