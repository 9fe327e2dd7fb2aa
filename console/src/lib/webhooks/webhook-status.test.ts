import { expect, it } from 'vitest'
import { collections } from '../../api/catalog.ts'
import { queryOf, sinceOf, statusOf } from './webhook-status.ts'

it('explains each reason that the service can give', () => {
  const { description } = collections.webhook.fields.find(({ name }) => name === 'reason') ?? {
    description: '',
  }
  const reasons = description.replace(/^[^:]*: |\.$/g, '').split(', ')
  expect(reasons.length).toBeGreaterThan(4)
  for (const reason of reasons) expect(statusOf('paused', reason).text).not.toContain('The reason is')
})

it('can be tested once it was verified, and activated unless it is active', () => {
  const facts = (status: string) => {
    const { isVerified, activate } = statusOf(status, 'requested')
    return [isVerified, activate]
  }
  expect(facts('pending')).toEqual([false, 'Verify and activate'])
  expect(facts('active')).toEqual([true, undefined])
  expect(facts('paused')).toEqual([true, 'Activate'])
  expect(facts('disabled')).toEqual([true, 'Activate'])
})

it('sends null for an empty filter and for all fields', () => {
  expect(queryOf({ url: ' https://a.example ', filter: ' ', fields: '' })).toEqual({
    url: 'https://a.example',
    filter: null,
    fields: null,
  })
  expect(queryOf({ url: '', filter: 'id>5', fields: 'id, name' })).toMatchObject({
    filter: 'id>5',
    fields: ['id', 'name'],
  })
})

it('sends a version as a number, and a cursor as it is', () => {
  expect(sinceOf('beginning', '12')).toBe('beginning')
  expect(sinceOf('position', ' 12 ')).toBe(12)
  expect(sinceOf('position', 'AQBR')).toBe('AQBR')
})
