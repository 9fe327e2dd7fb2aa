import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { loadConfig, readConfig } from './config.ts'

const folder = mkdtempSync(join(tmpdir(), 'quartermaster-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

const fileWith = (name: string, content: string | Buffer) => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}
const faults = (environment: Record<string, string>) => loadConfig(environment).faults
const url = 'postgres://app:hunter2@db/erp'

describe('secrets in files', () => {
  it.each([
    ['DATABASE_URL', url, url],
    ['DATABASE_URL', `${url}\n`, url],
    ['DATABASE_OWNER_URL', `${url}\r\n`, url],
    ['REDIS_URL', 'redis://:hunter2@cache\n', 'redis://:hunter2@cache'],
    ['QUARTERMASTER_WEBHOOK_SECRET', `${'k'.repeat(32)}\n`, 'k'.repeat(32)],
  ] as const)('%s_FILE names the file with the value', (name, content, value) => {
    const file = fileWith('url', content)
    const { config, settings, faults: loaded } = loadConfig({ [`${name}_FILE`]: file, [name]: '' })
    expect(loaded).toEqual([])
    expect(config[name]).toBe(value)
    expect(settings.find((setting) => setting.name === name)).toEqual({ name, value, origin: 'file', file })
  })

  it.each([
    ['a missing file', '/no/such/file', 'cannot be read (ENOENT)'],
    ['a folder', folder, 'cannot be read (EISDIR)'],
    ['an empty file', fileWith('empty', '\n'), 'is empty'],
    ['a file with two lines', fileWith('lines', `${url}\n${url}\n`), 'has more than one line'],
    ['a file that is too large', fileWith('large', Buffer.alloc(65_537, 'x')), 'is larger than 65536 bytes'],
    ['an endless file', '/dev/zero', 'is larger than 65536 bytes'],
  ])('%s is a fault', (_, file, reason) => {
    expect(faults({ DATABASE_URL_FILE: file })).toEqual([
      {
        variable: 'DATABASE_URL_FILE',
        message: `DATABASE_URL_FILE names the file ${file}, which ${reason}.`,
        repair: expect.any(String),
      },
    ])
  })

  it('a file and a value at the same time are a fault', () => {
    const environment = { DATABASE_URL: url, DATABASE_URL_FILE: fileWith('url', url) }
    expect(faults(environment)).toEqual([
      {
        variable: 'DATABASE_URL_FILE',
        message: 'DATABASE_URL and DATABASE_URL_FILE are both set.',
        repair: 'Unset one of them.',
      },
    ])
  })

  it('no message contains the secret', () => {
    const environments = [
      { DATABASE_URL_FILE: url },
      { DATABASE_URL_FILE: fileWith('wrong', 'mysql://app:hunter2@db/erp') },
      { DATABASE_URL: 'mysql://app:hunter2@db/erp', PORT: 'hunter2' },
      { QUARTERMASTER_SECRET: 'hunter2' },
    ]
    for (const environment of environments) {
      expect(faults(environment)).not.toEqual([])
      expect(JSON.stringify(faults(environment))).not.toContain('hunter2')
    }
  })
})

describe('unknown variables', () => {
  it.each([
    ['QUARTERMASTER_LOGLEVEL', 'Did you mean QUARTERMASTER_LOG_LEVEL?'],
    ['QUARTERMASTER_DATABSE_ROLE', 'Did you mean QUARTERMASTER_DATABASE_ROLE?'],
    ['QUARTERMASTER_SERVICE_DOMAIN', 'Did you mean QUARTERMASTER_DOMAIN?'],
    ['QUARTERMASTER_POOL_MAX', 'Did you mean QUARTERMASTER_DATABASE_POOL_MAX?'],
    ['QUARTERMASTER_PORT', 'Did you mean PORT?'],
    ['QUARTERMASTER_DATABASE_URL', 'Did you mean DATABASE_URL?'],
    ['QUARTERMASTER_COLOUR', 'Unset it. `quartermaster config` lists all settings.'],
  ])('%s is rejected', (variable, repair) => {
    expect(faults({ [variable]: '8080' })).toEqual([
      { variable, message: `${variable} is not a setting.`, repair },
    ])
    expect(() => readConfig({ [variable]: '8080' })).toThrow(`${variable} is not a setting.`)
  })

  it('those of Kubernetes for Services named quartermaster and quartermaster-redis are ignored', () => {
    const links = {
      QUARTERMASTER_SERVICE_HOST: '10.0.0.7',
      QUARTERMASTER_SERVICE_PORT: '80',
      QUARTERMASTER_SERVICE_PORT_HTTP: '80',
      QUARTERMASTER_PORT: 'tcp://10.0.0.7:80',
      QUARTERMASTER_PORT_80_TCP: 'tcp://10.0.0.7:80',
      QUARTERMASTER_PORT_80_TCP_PROTO: 'tcp',
      QUARTERMASTER_PORT_80_TCP_ADDR: '10.0.0.7',
      QUARTERMASTER_REDIS_PORT: 'tcp://10.0.0.8:6379',
      QUARTERMASTER_REDIS_SERVICE_HOST: '10.0.0.8',
    }
    expect(faults(links)).toEqual([])
  })

  it('a Service named quartermaster-admin hides a setting, and the fault says how to avoid it', () => {
    expect(faults({ QUARTERMASTER_ADMIN_PORT: 'tcp://10.0.0.7:80' })).toEqual([
      {
        variable: 'QUARTERMASTER_ADMIN_PORT',
        message: 'QUARTERMASTER_ADMIN_PORT must be integer.',
        repair: expect.stringContaining('enableServiceLinks'),
      },
    ])
  })

  it('those of the client guides and of compose, empty ones, and all without the prefix are ignored', () => {
    const others = { QUARTERMASTER_URL: 'http://x', QUARTERMASTER_KEY: 'qm_1', QUARTERMASTER_IMAGE: 'x' }
    expect(faults({ ...others, HOST: 'shell', LOG_LEVEL: 'x', QUARTERMASTER_X: '' })).toEqual([])
  })
})

it('every fault is reported, and the other settings have their values', () => {
  const { config, faults: found } = loadConfig({
    PORT: 'x',
    QUARTERMASTER_LOG_LEVEL: 'loud',
    QUARTERMASTER_READ_MS_MAX: '5000',
    QUARTERMASTER_HOTS: '::',
    REDIS_URL_FILE: '/no/such/file',
  })
  expect(found.map(({ variable }) => variable).toSorted()).toEqual([
    'PORT',
    'QUARTERMASTER_HOTS',
    'QUARTERMASTER_LOG_LEVEL',
    'REDIS_URL_FILE',
  ])
  expect([config.PORT, config.QUARTERMASTER_READ_MS_MAX]).toEqual([8080, 5000])
})

describe('OTEL_METRICS_EXPORTER', () => {
  it.each(['otlp', 'prometheus', 'none', 'otlp,prometheus', 'prometheus, otlp'])('%j is valid', (value) => {
    expect(faults({ OTEL_METRICS_EXPORTER: value })).toEqual([])
  })

  it.each(['console', 'none,otlp', 'otlp,', 'OTLP'])('%j is a fault', (value) => {
    expect(faults({ OTEL_METRICS_EXPORTER: value }).map(({ message }) => message)).toEqual([
      'OTEL_METRICS_EXPORTER is neither otlp, prometheus, a list of both, nor none.',
    ])
  })
})
