import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { connectionsOfProcess } from '../server/src/cli/doctor/checks/database.ts'
import { program } from '../server/src/cli/program.ts'
import { loadConfig } from '../server/src/config/config.ts'

/** Compares tables in documents with the commands, connections and events of the code. Other tables are generated from it. */

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const section = (file: string, heading: string) => {
  const [, text = ''] = read(file).split(`\n## ${heading}\n`)
  return text.split('\n## ')[0] ?? ''
}

it('README.md names commands that exist; docs/reference/commands.md is generated with all of them', () => {
  const names = [...section('README.md', 'In production').matchAll(/^\| `([^`]+)` \|/gm)].map(
    ([, name = '']) => name,
  )
  expect(names.length).toBeGreaterThan(3)
  const commandsOf = (command: Command, path: string): string[] =>
    command.commands.flatMap((one) => [`${path}${one.name()}`, ...commandsOf(one, `${path}${one.name()} `)])
  const commands = commandsOf(program(loadConfig({})), '')
  expect(names.filter((name) => !commands.includes(name))).toEqual([])
})

describe('docs/operating/capacity.md', () => {
  const text = section('docs/operating/capacity.md', 'Connections')

  it('has the connections that processes open', () => {
    const rows = [...text.matchAll(/^\| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$/gm)].map((row) =>
      row.slice(1).map(Number),
    )
    expect(rows.length).toBeGreaterThan(2)
    for (const [processes = 0, pool = 0, connections, maximum = 0] of rows) {
      expect([processes, pool, connections]).toEqual([
        processes,
        pool,
        processes * connectionsOfProcess(pool),
      ])
      // Ten more for the operator's commands, monitoring and replication.
      expect(maximum).toBeGreaterThanOrEqual(processes * connectionsOfProcess(pool) + 10)
    }
    expect(text).toContain(`2 × \`QUARTERMASTER_DATABASE_POOL_MAX\` + ${connectionsOfProcess(0)} connections`)
  })

  it('and deploy/ have the connections of a process with the default settings', () => {
    const each = connectionsOfProcess(loadConfig({}).config.QUARTERMASTER_DATABASE_POOL_MAX)
    expect(text).toContain(`these are ${each}.`)
    expect(read('deploy/README.md')).toContain(`Each pod opens up to ${each} connections`)
    expect(read('deploy/kubernetes/base/horizontal-pod-autoscaler.yaml')).toContain(
      `opens up to ${each} connections`,
    )
  })
})

it('docs/scale.md has the CPU time of a list from docs/operating/capacity.md', () => {
  const [, scale] = /(\d+) µs for a list that is read/.exec(read('docs/scale.md')) ?? []
  const [, capacity] = /uncached lists \((\d+) µs\)/.exec(read('docs/operating/capacity.md')) ?? []
  expect(scale).toBe(capacity)
})

it('docs/operating/watch.md has a row for every event of the log, and no other', () => {
  const [, text = ''] =
    /const levels[^{]*\{([\s\S]*?)\n\}/.exec(read('server/src/observability/logger.ts')) ?? []
  const logged = [...text.matchAll(/^ +'?([a-z-]+)'?: '/gm)].map(([, name = '']) => name)
  expect(logged.length).toBeGreaterThan(25)
  const rows = [...section('docs/operating/watch.md', 'Log').matchAll(/^\| (`[^|]+`) \|/gm)]
  const listed = rows.flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  )
  expect(listed.toSorted()).toEqual(logged.toSorted())
})
