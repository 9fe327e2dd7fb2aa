import { expect, it } from 'vitest'
import { resources } from '../../catalog/resources.ts'
import { membersOf, recordOf, recordsStatement } from './record-statement.ts'

it('recordsStatement reads tallies and records by account and id', () => {
  const { text, ...statement } = recordsStatement(resources.company, [
    { accountId: '12', id: '5' },
    { accountId: '3', id: '77' },
  ])
  expect(statement).toEqual({
    replicaText: expect.any(Function),
    operation: 'record',
    values: ['{12,3}', '{5,77}', 'company'],
    execution: 'pipelined',
  })
  expect(text).toContain(`from unnest($1::bigint[], $2::bigint[]) with ordinality q(account_id, id, n)
join tally t on t.account_id = q.account_id and t.resource = $3::text
left join company r on r.account_id = q.account_id and r.id = q.id
where t.account_id = any($1::bigint[])`)
  expect(text).toContain("r.id::text || e'\\x1f' || to_json(r.name)::text")
})

it('recordOf takes the requested fields in their order', () => {
  const { company } = resources
  const text = company.fields.map(({ name }) => JSON.stringify(`${name}, "quoted"`)).join('\u001f')
  const [id, name] = company.fields
  if (id === undefined || name === undefined) throw new Error('no fields')
  expect(recordOf(text, membersOf(company, [name, id]), () => '')).toBe(
    String.raw`{"name":"name, \"quoted\"","id":"id, \"quoted\""}`,
  )
})
