import { expect, it } from 'vitest'
import { limits } from '../limits/limits.ts'
import { Connection } from './connection.ts'
import { PreparedStatements } from './prepared-statements.ts'

/** `q` and what `printf TEXT | openssl dgst -sha256 -binary | basenc --base64url | cut -c1-22` prints. */
const names = {
  a: 'qypeBEsobvcr6wjGzmiPcTa',
  b: 'qPiPoFgA5WUoziU9lZOGxNI',
  'text 1': 'qkApEad8AzL_QwUXG0eS3lT',
  late: 'qCJABo1Z5oz7z2wyjUNubmi',
}

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
  expect([use('a', 1), use('a', 1), use('a', 1), use('a', 1)]).toEqual([
    undefined,
    undefined,
    names.a,
    names.a,
  ])
  expect([use('b', 2), use('b', 1)]).toEqual([undefined, names.b])
})

it('gives a text the same name on every connection, whatever was prepared before it', () => {
  const others = unopened()
  others.use('b', 3)
  expect(others.use('a', 3)).toBe(names.a)
})

it('when full, closes the text that was not used for the longest time', () => {
  const { use, closed, connection } = unopened()
  const texts = Array.from({ length: limits.preparedStatementsMax }, (_, i) => `text ${i + 1}`)
  const [first, second] = texts.map((text) => use(text, 3))
  expect(first).toBe(names['text 1'])
  use('text 1', 1)
  expect(use('other', 3)).not.toBe(undefined)
  expect(closed).toEqual([second])
  expect(Object.keys(connection.parsedStatements)).toHaveLength(limits.preparedStatementsMax)
  expect(use('text 1', 1)).toBe(first)
  expect([use('text 2', 2), use('text 2', 1)]).toEqual([undefined, second])
})

it('closes a text that was replaced before PostgreSQL had parsed it', () => {
  const { use, closed, connection } = unopened()
  use('late', 3)
  delete connection.parsedStatements[names.late]
  for (let i = 1; i <= limits.preparedStatementsMax; i++) use(`text ${i}`, 3)
  connection.parsedStatements[names.late] = 'late'
  expect(closed).toEqual([])
  use('next', 3)
  expect(closed).toContain(names.late)
})
