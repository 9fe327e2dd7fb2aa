import { describe, expect, it } from 'vitest'
import { withSettings } from './export-copy.ts'

describe('withSettings', () => {
  it('hands every value over as a setting of the transaction, and the account in the text', () => {
    const copy = {
      text: 'copy (select id from product r where account_id = $1::bigint and name = $2::text or id = any($3::bigint[])) to stdout',
      values: ['12', "'; drop table product --", ['1', '2']],
    }
    expect(withSettings(copy, { accountId: '12' })).toEqual({
      text: `copy (select id from product r where account_id = '12'::bigint and name = current_setting('quartermaster.v2')::text or id = any(current_setting('quartermaster.v3')::bigint[])) to stdout`,
      settings: {
        text: `select set_config('quartermaster.v2', $1::text, true), set_config('quartermaster.v3', $2::text, true)`,
        values: ["'; drop table product --", ['1', '2']],
      },
    })
  })

  it('takes no account but the one of the scope, and nothing else for one', () => {
    const copy = (account: unknown) => ({ text: '$1', values: [account] })
    expect(() => withSettings(copy('13'), { accountId: '12' })).toThrow('is not its account')
    expect(() => withSettings(copy("1'"), { accountId: "1'" })).toThrow('is not its account')
    expect(withSettings(copy('12'), { accountId: '12' }).settings).toBeUndefined()
  })
})
