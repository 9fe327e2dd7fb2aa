import { expect, it } from 'vitest'
import { limits } from '../limits/limits.ts'
import { Connection } from './connection.ts'
import { PreparedStatements } from './prepared-statements.ts'

/** A connection that is not open. As `pg` does, the caller stores which statements PostgreSQL has parsed. */
function unopened() {
  const { connection } = new Connection()
  const closed: (string | undefined)[] = []
  connection.close = ({ name }) => void closed.push(name)
  const statements = new PreparedStatements(connection)
  /** Uses the text several times and returns its last name. */
  const use = (text: string, times: number) => {
    const name = Array.from({ length: times }, () => statements.nameOf(text)).at(-1)
    if (name !== undefined) connection.parsedStatements[name] = text
    return name
  }
  return { use, closed, connection }
}

it('names a text at its third use, and does not change the name', () => {
  const { use } = unopened()
  expect([use('a', 1), use('a', 1), use('a', 1), use('a', 1)]).toEqual([undefined, undefined, 'q1', 'q1'])
  expect([use('b', 2), use('b', 1)]).toEqual([undefined, 'q2'])
})

it('when full, closes the text that was not used for the longest time', () => {
  const { use, closed, connection } = unopened()
  for (let i = 1; i <= limits.preparedStatementsMax; i++) expect(use(`text ${i}`, 3)).toBe(`q${i}`)
  use('text 1', 1)
  expect(use('other', 3)).toBe(`q${limits.preparedStatementsMax + 1}`)
  expect(closed).toEqual(['q2'])
  expect(Object.keys(connection.parsedStatements)).toHaveLength(limits.preparedStatementsMax)
  expect(use('text 1', 1)).toBe('q1')
  expect([use('text 2', 2), use('text 2', 1)]).toEqual([undefined, `q${limits.preparedStatementsMax + 2}`])
})

it('closes a text that was replaced before PostgreSQL had parsed it', () => {
  const { use, closed, connection } = unopened()
  use('late', 3)
  delete connection.parsedStatements['q1']
  for (let i = 1; i <= limits.preparedStatementsMax; i++) use(`text ${i}`, 3)
  connection.parsedStatements['q1'] = 'late'
  expect(closed).toEqual([])
  use('next', 3)
  expect(closed).toContain('q1')
})
