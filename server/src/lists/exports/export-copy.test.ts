import { describe, expect, it } from 'vitest'
import { withSettings } from './export-copy.ts'

describe('withSettings', () => {
  it('passes every value as a setting of the transaction, and the account in the text', () => {
    const copy = {
      text: 'copy (select id from product r where account_id = $1::bigint and name = $2::text or id = any($3::bigint[])) to stdout',
      values: ['12', "'; drop table product --", ['1', '2']],
    }
    expect(withSettings(copy, { accountId: '12' })).toEqual({
      text: `copy (select id from product r where account_id = '12'::bigint and name = current_setting('quartermaster.v2')::text or id = any(current_setting('quartermaster.v3')::bigint[])) to stdout`,
      settings: [
        {
          text: `select set_config('quartermaster.v2', $1::text, true), set_config('quartermaster.v3', $2::text, true)`,
          values: ["'; drop table product --", ['1', '2']],
        },
      ],
    })
  })

  it('reads values above the limit once, not for every record', () => {
    const values = ['12', ...Array.from({ length: 2500 }, (_, i) => String(i))]
    const all = values.map((_, i) => `id > $${i + 1}::bigint`).join(' and ')
    const { text, settings } = withSettings({ text: all, values }, { accountId: '12' })
    const terms = text.split(' and ')
    expect(terms.slice(0, 3)).toEqual([
      `id > '12'::bigint`,
      `id > current_setting('quartermaster.v2')::bigint`,
      `id > current_setting('quartermaster.v3')::bigint`,
    ])
    expect(terms[2500]).toBe(`id > (select current_setting('quartermaster.v2501')::bigint)::bigint`)
    expect(terms.filter((term) => term.includes('(select'))).toHaveLength(2500 - 32)
    expect(settings.map(({ values: batch }) => batch.length)).toEqual([1000, 1000, 500])
    expect(settings[2]?.text).toMatch(/^select set_config\('quartermaster.v2002', \$1::text, true\), /)
  })

  it('reads a list above the limit once, and the value after it directly', () => {
    const values = ['12', Array.from({ length: 1000 }, (_, i) => String(i)), '7']
    const copy = { text: 'id = any($2::bigint[]) and id > $3::bigint', values }
    expect(withSettings(copy, { accountId: '12' }).text).toBe(
      `id = any((select current_setting('quartermaster.v2')::bigint[])::bigint[]) and id > current_setting('quartermaster.v3')::bigint`,
    )
  })

  it('throws if the first value is not the account of the scope, or not a number', () => {
    const copy = (account: unknown) => ({ text: '$1::bigint', values: [account] })
    expect(() => withSettings(copy('13'), { accountId: '12' })).toThrow('is not its account')
    expect(() => withSettings(copy("1'"), { accountId: "1'" })).toThrow('is not its account')
    expect(withSettings(copy('12'), { accountId: '12' }).settings).toEqual([])
  })
})
