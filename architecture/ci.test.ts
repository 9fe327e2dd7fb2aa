import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

/** What has failed, or never ends, fails `.ci/run`. */

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'quartermaster-ci-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function bash(script: string, environment: Record<string, string> = {}) {
  const env = { ...process.env, WAIT_IN: '', ...environment }
  const { status, stdout, stderr } = spawnSync('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: root,
    env,
    encoding: 'utf8',
  })
  return { status, out: stdout + stderr }
}

describe('in_parallel', () => {
  const run = (commands: string, limit = 600) => {
    const temporary = mkdtempSync(join(folder, 'run-'))
    return bash(
      `temporary=${temporary}; . .ci/parallel; command_seconds_max=${limit}; in_parallel ${commands}; echo END`,
    )
  }

  it('passes if all commands pass', () => {
    const { status, out } = run(`'echo one' 'echo two'`)
    expect(out).toMatch(/^one$/m)
    expect(out).toMatch(/^commands: 2 passed, 0 failed\nEND\n$/m)
    expect(status).toBe(0)
  })

  it('fails with a command that fails, wherever in it, and prints it again at the end', () => {
    const { status, out } = run(`'true' 'echo broken; false; echo unreached' 'true'`)
    expect(out).toMatch(/^commands: 2 passed, 1 failed$/m)
    expect(out).toMatch(/^-- failed: echo broken; false; echo unreached\nbroken$/m)
    expect(out).not.toMatch(/^unreached$/m)
    expect(out).not.toMatch(/^END$/m)
    expect(status).toBe(1)
  })

  it('ends a command that hangs, with its children, and names it', () => {
    const { status, out } = run(`'true' 'sleep 1000 & wait'`, 1)
    expect(out).toMatch(/^-- HUNG, ended after 1 s: sleep 1000 & wait$/m)
    expect(out).toMatch(/^commands: 1 passed, 1 failed$/m)
    expect(status).toBe(1)
  })

  it('is what .ci/run runs everything with', () => {
    const { out } = bash(`grep -c '^. .ci/parallel$' .ci/run; grep -c '^in_parallel ' .ci/run`)
    expect(out).toBe('1\n1\n')
  })
})

describe('.ci/suite', () => {
  /** `.ci/suite` with a vitest that is this script. `$n` is the number of the run, `$FAILED_FILES` the list of what failed. */
  const suite = (script: string) => {
    const copy = mkdtempSync(join(folder, 'suite-'))
    mkdirSync(join(copy, '.ci'))
    mkdirSync(join(copy, 'node_modules/.bin'), { recursive: true })
    cpSync(join(root, '.ci/suite'), join(copy, '.ci/suite'))
    const vitest = join(copy, 'node_modules/.bin/vitest')
    const count = join(copy, 'count')
    writeFileSync(vitest, `#!/bin/bash\necho run >>${count}; n=$(wc -l <${count})\n${script}\n`)
    chmodSync(vitest, 0o755)
    return bash(`bash ${join(copy, '.ci/suite')} --exclude x`)
  }
  const fail = (files: number) =>
    `[ -z "\${FAILED_FILES:-}" ] || for i in $(seq ${files}); do echo "file$i" >>"$FAILED_FILES"; done; exit 1`

  it('passes if the tests pass', () => {
    expect(suite('exit 0')).toEqual({ status: 0, out: '' })
  })

  it('fails if a file fails twice', () => {
    const { status, out } = suite(fail(1))
    expect(out).toContain('Running again: file1')
    expect(out).not.toContain('UNSTABLE')
    expect(status).toBe(1)
  })

  it('names a file that passes only when run again', () => {
    const { status, out } = suite(`if [ $n = 1 ]; then ${fail(2)}; fi; echo "again: $*"`)
    expect(out).toContain('again: run --exclude x --maxWorkers=1 file1 file2')
    expect(out).toContain('UNSTABLE, passed only when run again: file1 file2')
    expect(status).toBe(0)
  })

  it.each([0, 11])('runs nothing again if %i files failed', (files) => {
    const { status, out } = suite(`[ $n = 1 ] || echo again; ${fail(files)}`)
    expect(out).not.toContain('again')
    expect(status).toBe(1)
  })
})

describe('.github/workflows/check.yml', () => {
  const workflow = readFileSync(join(root, '.github/workflows/check.yml'), 'utf8')

  it('runs .ci/run on the Debian version that it is written for', () => {
    expect(workflow).toMatch(/^ {8}run: \.ci\/run$/m)
    expect(workflow).toMatch(/^ {6}image: debian:12$/m)
    expect(bash('grep -c "Debian 12 with Node 20 or later" .ci/run').out).toBe('1\n')
  })

  it('can only read the repository', () => {
    expect(workflow).toMatch(/^permissions:\n {2}contents: read\n\n/m)
    expect(workflow.match(/^ *permissions:/gm)).toHaveLength(1)
  })
})

it('the dev container has the Node version of .nvmrc, and installs packages by the lock file', () => {
  const container = JSON.parse(readFileSync(join(root, '.devcontainer/devcontainer.json'), 'utf8'))
  const node = readFileSync(join(root, '.nvmrc'), 'utf8').trim()
  expect(container.image).toMatch(new RegExp(`:${node}-`))
  expect(container.postCreateCommand).toBe(`bash .ci/install-tools node${node} && npm ci`)
})
