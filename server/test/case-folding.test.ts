import { describe, expect, inject, it } from 'vitest'
import { quartermaster } from './command.ts'
import { connected } from './database.ts'

/** Databases in which "contains" would depend on the plan: ILIKE and the trigram index fold letters differently. */

const provided = {
  'ICU, English': [`locale_provider icu icu_locale 'en-US' locale 'C.UTF-8'`, /Σ/],
  'ICU, Turkish': [`locale_provider icu icu_locale 'tr-TR' locale 'C.UTF-8'`, /I/],
  'ICU, with the ctype C': [`locale_provider icu icu_locale 'und' locale 'C'`, /./],
  'the locale C': [`locale_provider libc locale 'C'`, /É/],
} as const
const admin = await connected(inject('postgresUrl'))
let created = 0

async function database(options: string): Promise<{ name: string; url: string }> {
  const name = `folding_${process.pid}_${++created}`
  await admin.query(`create database ${name} template template0 encoding 'UTF8' ${options}`)
  const url = new URL(inject('postgresUrl'))
  url.pathname = `/${name}`
  return { name, url: url.href }
}

describe.each(Object.entries(provided))('a database with %s', (_, [options, letters]) => {
  it('is rejected by migrate and doctor, which print the command that creates the right one', async () => {
    const { name, url } = await database(options)
    const migrated = await quartermaster(['migrate'], { DATABASE_URL: url, DATABASE_OWNER_URL: url })
    expect(migrated.code).toBe(1)
    const fault = `The database ${name} does not fold the case of `
    const right = `create database ${name}_utf8 template template0 encoding 'UTF8' locale_provider libc locale 'C.UTF-8'`
    expect(migrated.stderr).toContain(fault)
    expect(migrated.stderr).toContain(
      ` as "contains" needs it. Nothing was changed. Create another one: ${right}`,
    )
    expect(migrated.stderr.slice(migrated.stderr.indexOf(fault) + fault.length)).toMatch(letters)
    const checked = await quartermaster(['doctor', '--json'], { DATABASE_URL: url, DATABASE_OWNER_URL: url })
    const { findings }: { findings: { message: string; repair?: string }[] } = JSON.parse(checked.stdout)
    const found = findings.find(({ message }) => message.startsWith(fault))
    expect(found?.repair?.startsWith(`${right};`)).toBe(true)
  })
})

it('a database with the printed command is accepted', async () => {
  const { url } = await database(`locale_provider libc locale 'C.UTF-8'`)
  expect(await quartermaster(['migrate'], { DATABASE_URL: url, DATABASE_OWNER_URL: url })).toMatchObject({
    code: 0,
  })
})
