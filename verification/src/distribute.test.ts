import { expect, it } from 'vitest'
import { allowedStatement } from '../../server/src/accounts/allowed-origins.ts'
import { resources } from '../../server/src/catalog/resources.ts'
import { accountsWithImagesGrouped } from '../../server/src/citus/images.ts'
import { accountsWithImages } from '../../server/src/writes/journal-sweep.ts'
import { isForSeveralAccounts, namesOneAccount, tablesIn } from './distribute.ts'

it.each([
  'select 1 from product where account_id = $1::bigint',
  'select (select count(*) from product where account_id = $1::bigint) from tally t where t.account_id = $1::bigint',
  'insert into idempotency as k (account_id, key) values ($1::bigint, $2::text)',
  `with t as (update tally set total = $3 where account_id = $1::bigint returning last_id)
   insert into partner (account_id, id) select $1::bigint, last_id from t`,
  `copy (select r.id from product r where account_id = '12'::bigint order by r.id) to stdout (format csv)`,
])('names one account: %s', (query) => {
  expect(namesOneAccount(query)).toBe(true)
})

it.each([
  'select 1 from product',
  'select 1 from product where id = $1::bigint',
  'select 1 from product where account_id = any($1::bigint[])',
  'select (select count(*) from product) from tally t where t.account_id = $1::bigint',
  'select 1 from product p join tally t on t.account_id = p.account_id where p.account_id = $1::bigint',
  'select 1 from product where account_id = $1::bigint or account_id = $2::bigint',
  'insert into partner (account_id, id) values ($1::bigint, $2); delete from partner where account_id = $3::bigint',
])('does not name exactly one account: %s', (query) => {
  expect(tablesIn(query)).toBeGreaterThan(0)
  expect(namesOneAccount(query)).toBe(false)
})

it('the lookup of allowed origins is for several accounts', () => {
  const { text } = allowedStatement([[], []])
  expect(tablesIn(text)).toBe(1)
  expect(isForSeveralAccounts(text)).toBe(true)
})

it.each([accountsWithImages, accountsWithImagesGrouped])(
  'the search for old before-images is for several accounts',
  (search) => {
    expect(isForSeveralAccounts(search(resources.product, '0').text)).toBe(true)
  },
)
