import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { postgresBinaries } from './temporary-postgres.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

it('uses the PostgreSQL on PATH before the one that Debian installs', () => {
  const [clientOnly, complete] = ['client', 'server'].map((name) =>
    mkdtempSync(join(tmpdir(), `path-${name}-`)),
  )
  try {
    writeFileSync(join(String(clientOnly), 'initdb'), '')
    for (const name of ['initdb', 'postgres']) writeFileSync(join(String(complete), name), '')
    vi.stubEnv('PATH', [clientOnly, complete, process.env['PATH']].join(delimiter))
    expect(postgresBinaries()).toBe(complete)
  } finally {
    for (const folder of [clientOnly, complete]) rmSync(String(folder), { recursive: true })
  }
})
