import { expect, it } from 'vitest'
import { maskedUrl, maskedUrls } from './masked.ts'

it.each([
  ['postgres://app:hunter2@db1:5432,db2/erp', 'postgres://app:***@db1:5432,db2/erp'],
  ['postgres://app@db/erp?sslmode=verify-full', 'postgres://app@db/erp?sslmode=verify-full'],
  ['postgres:///erp?host=/run/pg&password=hunter2', 'postgres:///erp?host=/run/pg&password=***'],
  ['postgres://db/erp?sslkey=/a.key&sslpassword=hunter2', 'postgres://db/erp?sslkey=/a.key&sslpassword=***'],
  ['redis://:hunter2@cache:6379/0', 'redis://***@cache:6379/0'],
  ['https://hunter2@collector:4318', 'https://***@collector:4318'],
  ['http://collector:4318/v1', 'http://collector:4318/v1'],
])('%s is shown as %s', (url, shown) => {
  expect(maskedUrl(url)).toBe(shown)
})

it.each([
  'postgres://app:hun@ter2@db/erp',
  'postgres://app:1/hunter2@db/erp',
  'postgres://app:1?hunter2@db/erp',
  'postgres://app:1#hunter2@db/erp',
  'postgres://app:hunter2:x@db/erp',
  'redis://cache?a=hunter2@x',
])('%s is masked completely', (url) => {
  expect(maskedUrl(url)).toBe('***')
})

it.each([
  [
    'postgres://a:hunter2@r1,r2/erp  postgres://a:hunter2@r3/erp',
    'postgres://a:***@r1,r2/erp postgres://a:***@r3/erp',
  ],
  ['postgres://a:hun ter2@r1/erp', '***'],
])('%s are shown as %s', (urls, shown) => {
  expect(maskedUrls(urls)).toBe(shown)
})
