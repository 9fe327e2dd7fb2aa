import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from './at-end.ts'
import { type Environment, quartermaster } from './command.ts'

const folder = temporaryFolder('config')
const file = join(folder, 'redis-url')
writeFileSync(file, 'redis://:hunter2@cache:6379/0\n')

// Nothing listens at these addresses: the command must not connect.
const valid = {
  DATABASE_URL: 'postgres://app:hunter2@127.0.0.1:1/erp?sslmode=verify-full',
  REDIS_URL_FILE: file,
  QUARTERMASTER_LOG_LEVEL: 'warn',
}

async function json(settings: Environment) {
  const { code, stdout } = await quartermaster(['config', '--json'], settings)
  return { code, ...JSON.parse(stdout) }
}

describe('quartermaster config', () => {
  test('prints every setting with its value and origin, with secrets masked', async () => {
    const { code, stdout, stderr } = await quartermaster(['config'], valid)
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout.split('\n').map((line) => line.split(/ {2,}/))
    expect(lines).toContainEqual([
      'DATABASE_URL',
      'postgres://app:***@127.0.0.1:1/erp?sslmode=verify-full',
      'environment',
    ])
    expect(lines).toContainEqual(['REDIS_URL', 'redis://***@cache:6379/0', `file ${file}`])
    expect(lines).toContainEqual(['QUARTERMASTER_LOG_LEVEL', 'warn', 'environment'])
    expect(lines).toContainEqual(['QUARTERMASTER_HOST', '127.0.0.1', 'default'])
    expect(lines).toContainEqual(['QUARTERMASTER_ADMIN_PORT', '(not set)', 'default'])
  })

  test('prints the same as JSON', async () => {
    const { code, ok, settings, faults } = await json(valid)
    expect([code, ok, faults]).toEqual([0, true, []])
    expect(settings).toContainEqual({
      name: 'REDIS_URL',
      value: 'redis://***@cache:6379/0',
      origin: 'file',
      file,
    })
    expect(settings).toContainEqual({ name: 'PORT', value: 8080, origin: 'default' })
    expect(settings).toContainEqual({ name: 'QUARTERMASTER_ADMIN_PORT', value: null, origin: 'default' })
    expect(JSON.stringify(settings)).not.toContain('hunter2')
  })

  test('exits with 1 and reports every fault, but no value of an invalid setting', async () => {
    const invalid = {
      DATABASE_URL: 'postgres://app:hunter2@db:x/erp',
      REDIS_URL: 'hunter2',
      DATABASE_OWNER_URL: 'postgres://app:hunter2@db/erp?sslmode=verify-full&sslrootcert=/no/such/file',
      PORT: 'hunter2',
      QUARTERMASTER_TRUSTED_PROXIES: '10.0.0.0/8,10.0.0.0/99',
      QUARTERMASTER_HOTS: 'hunter2',
    }
    const { code, ok, settings, faults } = await json(invalid)
    expect([code, ok]).toEqual([1, false])
    expect(faults.map(({ variable }: { variable: string }) => variable).toSorted()).toEqual(
      Object.keys(invalid).toSorted(),
    )
    expect(settings).toContainEqual({ name: 'PORT', value: null, origin: 'environment' })
    const text = await quartermaster(['config'], invalid)
    expect(text.code).toBe(1)
    expect(text.stderr.match(/^✗ /gm)).toHaveLength(6)
    expect(text.stderr).toContain('repair: Did you mean QUARTERMASTER_HOST?')
    expect(JSON.stringify([settings, faults, text])).not.toContain('hunter2')
  })

  test('other commands refuse a configuration with faults, but print their help', async () => {
    const settings = { ...valid, QUARTERMASTER_HOTS: '::' }
    const refused = await quartermaster(['account', 'list'], settings)
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([
      1,
      '',
      'quartermaster: Invalid configuration: QUARTERMASTER_HOTS is not a setting. Did you mean QUARTERMASTER_HOST?\n',
    ])
    const help = await quartermaster(['account', '--help'], settings)
    expect([help.code, help.stderr]).toEqual([0, ''])
  })
})
