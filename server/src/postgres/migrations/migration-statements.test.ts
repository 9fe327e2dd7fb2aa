import { expect, it } from 'vitest'
import { statementsIn } from './migration-statements.ts'

it('ends a statement at a semicolon outside constants, names, comments and blocks', () => {
  const text = `-- Up Migration

-- It's the first; with a comment.
alter table a add column b text default 'it''s; not the end';
do $$ begin
  perform 1; -- "
end $$;
alter table "a;b" drop column c; -- the last
`
  expect(statementsIn(text)).toEqual([
    `-- Up Migration

-- It's the first; with a comment.
alter table a add column b text default 'it''s; not the end';`,
    `do $$ begin
  perform 1; -- "
end $$;`,
    'alter table "a;b" drop column c;',
  ])
})

it('rejects a statement without an end', () => {
  expect(() => statementsIn("select 'a;")).toThrow("A migration has a ' that nothing closes.")
  expect(() => statementsIn('select 1;\nselect 2')).toThrow('does not end with a semicolon: select 2')
})
