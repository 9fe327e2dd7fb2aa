import { type BodyShape, filled, nested, numbered, ofBytes } from './shape.ts'

const bom = '\uFEFF'

/** Documents that are expensive, or nearly valid, whatever the members of a request are. */
const documents: readonly BodyShape[] = [
  numbered('unknown members', '{"name":"x"', (n) => `,"${n.toString(36)}":0`, '}'),
  numbered('unknown members near known ones', '{"name":"x"', (n) => `,"nam${n.toString(36)}":0`, '}'),
  numbered('unknown members near long ones', '{"name":"x"', (n) => `,"product_tmp${n.toString(36)}":0`, '}'),
  numbered('unknown members with long names', '{', (n) => `"${'n'.repeat(500)}${n}":0,`, '"x":0}'),
  numbered('unknown members with objects', '{', (n) => `"${n.toString(36)}":{},`, '"x":{}}'),
  filled('one member repeated', '{', '"name":"x",', '"name":"x"}'),
  filled('one escaped member repeated', '{', '"\\u006eame":"x",', '"name":"x"}'),
  filled('empty names', '{', '"":0,', '"":0}'),
  filled('a long member name', '{"', 'n', '":1}'),
  filled('a member name of escapes', '{"', '\\u0000', '":1}'),
  filled('a member name of backslashes', '{"', '\\\\', '":1}'),
  filled('__proto__ repeated', '{', '"__proto__":{},', '"constructor":{}}'),
  filled('an array of numbers', '[', '0,', '0]'),
  filled('an array of objects', '[', '{},', '{}]'),
  filled('a long string', '"', 'x', '"'),
  filled('a long number', '1', '0', ''),
  nested('nested arrays', '', '[', '', ']', ''),
  nested('nested objects', '', '{"a":', '1', '}', ''),
  filled('arrays that are never closed', '', '[', ''),
  filled('objects that are never closed', '', '{"a":', ''),
  filled('a string that is never closed', '{"name":"', 'x', ''),
  filled('an escape at the end of a string that is never closed', '{"name":"', 'x', '\\'),
  filled('white space', '', ' ', ''),
  filled('line feeds', '', '\n', ''),
  filled('white space before an object', '', '\t', '{"name":"x"}'),
  filled('white space between members', '{"name":"x",', ' ', '"name":"x"}'),
  filled('white space after an object', '{"name":"x"}', ' ', ''),
  filled('objects one after the other', '', '{"name":"x"}', ''),
  filled('byte order marks', '', bom, '{"name":"x"}'),
  filled('commas', '{', ',', '}'),
  filled('colons', '{"name":', ':', '}'),
  filled('comments', '{', '/**/', '}'),
  filled('NUL', '{"name":"x"}', '\0', ''),
  ofBytes('invalid UTF-8', '{"name":"', 0xff, '"}'),
  ofBytes('UTF-8 that is never complete', '{"name":"', 0xf0, '"}'),
  ofBytes('continuation bytes', '', 0x80, ''),
]

/** Values of one member, which fill the rest of the document. */
const values: readonly (readonly [string, string, string, string])[] = [
  ['an array of numbers', '[', '0,', '0]'],
  ['an array of short texts', '[', '"a",', '"a"]'],
  ['an array of known texts', '[', '"product:read",', '"product:read"]'],
  ['an array of field names', '[', '"name",', '"nam"]'],
  ['an array of arrays', '[', '[],', '[]]'],
  ['an array of objects', '[', '{},', '{}]'],
  ['an object', '{', '"a":1,', '"a":1}'],
  ['a long text', '"', 'x', '"'],
  ['a text of spaces', '"x', ' ', 'x"'],
  ['a text of emoji', '"', '😀', '"'],
  ['a text of escapes', '"', '\\u0001', '"'],
  ['a text of unpaired surrogates', '"', '\\ud83d', '"'],
  ['a text of escaped quotes', '"', '\\"', '"'],
  ['a text of escaped backslashes', '"', '\\\\', '"'],
  ['a text of invalid escapes', '"', '\\x', '"'],
  ['a long integer', '1', '0', ''],
  ['a long integer of nines', '-9', '9', ''],
  ['a long fraction', '0.', '0', '1'],
  ['a long exponent', '1e', '9', ''],
  ['a long negative exponent', '1e-', '9', ''],
  ['zeros before a number', '', '0', '1'],
  ['signs', '', '-', '1'],
  ['a date with a long fraction', '"2026-01-01T00:00:00.', '0', 'Z"'],
  ['a date repeated', '"', '2026-01-01T', '"'],
  ['a date of digits', '"', '9', '-01-01"'],
  ['true repeated', '', 'true', ''],
  ['conditions on unknown fields', '"', 'nam=1&', 'nam=1"'],
  ['groups of a filter', '"', '(', 'id=1"'],
  ['host labels', '"https://', 'a.', '/"'],
  ['non-ASCII host labels', '"https://', 'ü', '/"'],
  ['a long path of a URL', '"https://example.com/', 'a/', '"'],
  ['user information of a URL', '"https://', 'a:', '@example.com/"'],
]

/** Hostile documents for a route whose body has these members. */
export function jsonShapes(members: readonly string[]): readonly BodyShape[] {
  return [
    ...documents,
    ...members.flatMap((member) => [
      ...values.map(([name, start, unit, end]) =>
        filled(`${member} is ${name}`, `{"${member}":${start}`, unit, `${end}}`),
      ),
      nested(`${member} is nested arrays`, `{"${member}":`, '[', '', ']', '}'),
      nested(`${member} is nested objects`, `{"${member}":`, '{"a":', '0', '}', '}'),
      filled(`unclosed arrays in ${member}`, `{"${member}":`, '[', '}'),
      filled(`${member} repeated`, '{', `"${member}":null,`, `"${member}":null}`),
    ]),
  ]
}
