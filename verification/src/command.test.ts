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
function verify(...args: string[]): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, folder, ...args], {
    encoding: 'utf8',
    env: { PATH: folder },
  })
  return { code: status, out: stdout, err: stderr }
}

it('passes if every check has seen what it claims', () => {
  const { code, out } = verify('good')
  expect(out).toMatch(/^works +0 of 5 +any +ok\ngood: 1 passed, 0 failed, 0 skipped\n$/)
  expect(code).toBe(0)
})

it('fails if a check throws, and names the cause', () => {
  const { code, out, err } = verify('thrown')
  expect(out).toMatch(/^throws +not measured +any +FAILED$/m)
  expect(out).toMatch(/^thrown: 1 passed, 1 failed, 0 skipped$/m)
  expect(err).toContain('a node did not come back')
  expect(code).toBe(1)
  const { checks } = JSON.parse(readFileSync(join(folder, 'thrown.json'), 'utf8'))
  expect(checks[1]).toMatchObject({ name: 'throws', state: 'FAILED', ok: false })
})

it.each(['empty', 'unknown'])('fails if a check has compared nothing: %s', (suite) => {
  const { code, out } = verify(suite)
  expect(out).toMatch(/ FAILED$/m)
  expect(out).toContain(`${suite}: 0 passed, 1 failed, 0 skipped`)
  expect(code).toBe(1)
})

it('fails if a bound is missed', () => {
  const { code, out } = verify('short')
  expect(out).toMatch(/^misses +1 of 5 +any +SHORT\nshort: 0 passed, 1 failed, 0 skipped\n$/)
  expect(code).toBe(1)
})

it('skips a check for a capability that the machine lacks, and does not run it', () => {
  const { code, out } = verify('lacking')
  expect(out).toMatch(/^cannot_run +skipped: no kubectl here +any +skipped$/m)
  expect(out).toMatch(/^lacking: 1 passed, 0 failed, 1 skipped$/m)
  expect(code).toBe(0)
})

it('fails with --complete if a check is skipped', () => {
  const { code, out } = verify('lacking', '--complete')
  expect(out).toMatch(/^lacking: 1 passed, 0 failed, 1 skipped$/m)
  expect(code).toBe(1)
  expect(verify('good', '--complete').code).toBe(0)
})

it('skips a check for no other reason', () => {
  const { code, out } = verify('invented')
  expect(out).toMatch(/^cannot_run +not measured +any +FAILED$/m)
  expect(code).toBe(1)
})

it('repeats with --retry what has thrown', () => {
  expect(verify('unstable').code).toBe(1)
  const { code, out, err } = verify('unstable', '--retry')
  expect(out).toMatch(/^second_time +2 runs +any +ok$/m)
  expect(err).toContain('UNSTABLE, completed only when run again: second_time')
  expect(code).toBe(0)
  expect(verify('thrown', '--retry').code).toBe(1)
})

it('explains its use if no suite or check of that name exists', () => {
  expect(verify('absent')).toMatchObject({ code: 2, out: '' })
  expect(verify('good', '--only', 'absent')).toMatchObject({ code: 2, out: '' })
})
