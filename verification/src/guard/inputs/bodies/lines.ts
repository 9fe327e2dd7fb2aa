import { jsonShapes } from './json.ts'
import { type BodyShape, filled, nested, numbered, ofBytes } from './shape.ts'

/** A line at its largest. */
export function ndjsonLineShapes(members: readonly string[]): readonly BodyShape[] {
  const rows = jsonShapes(members)
  const before = (name: string, start: string): readonly BodyShape[] =>
    rows.map((shape) => ({
      name: `${name}: ${shape.name}`,
      of: (bytes) => Buffer.concat([Buffer.from(start), shape.of(bytes), Buffer.from('\n')]),
    }))
  // The fields of a batch come from its first row, so both positions matter.
  return [
    ...before('the first row', ''),
    ...before('the second row', '{"id":1,"name":"x"}\n'),
    filled('$delete of a long integer', '{"$delete":1', '0', '}\n'),
    filled('$delete of an array', '{"$delete":[', '0,', '0]}\n'),
    nested('$delete of nested arrays', '{"$delete":', '[', '', ']', '}\n'),
  ]
}

/** Many small lines. */
export const ndjsonBodyShapes: readonly BodyShape[] = [
  filled('rejected lines of two bytes', '', '1\n', ''),
  filled('blank lines', '', '\n', ''),
  filled('lines of a space', '', ' \n', ''),
  filled('carriage returns', '', '\r', '\n'),
  filled('blank lines with carriage returns', '', '\r\n', ''),
  filled('empty objects', '', '{}\n', ''),
  filled('empty arrays', '', '[]\n', ''),
  filled('lines that are not JSON', '', '{\n', ''),
  filled('rows without a required field', '', '{"id":1}\n', ''),
  filled('rows with an unknown member', '', '{"id":1,"x":1}\n', ''),
  filled('rows with 20 wrong members', '', `{${'"nam":[],'.repeat(20)}"id":-1}\n`, ''),
  filled('one row repeated', '', '{"id":1,"name":"x"}\n', ''),
  filled('one id, upserted and deleted', '', '{"id":7,"name":"x"}\n{"$delete":7}\n', ''),
  filled('deletes of one id', '', '{"$delete":1}\n', ''),
  numbered('deletes of unknown ids', '', (n) => `{"$delete":${n + 1_000_000}}\n`, ''),
  numbered('valid rows', '', (n) => `{"id":${n + 10_000},"name":"row ${n}"}\n`, ''),
  filled('a line without an end', '', 'x', ''),
  filled('a line of opening brackets', '', '[', ''),
  filled('byte order marks', '', '\uFEFF\n', ''),
  filled('NUL', '', '\0\n', ''),
  ofBytes('invalid UTF-8', '{"id":1,"name":"', 0xff, '"}\n'),
]

const csvHeader = 'id,name'

/** A header, row or cell at its largest. */
export const csvLineShapes: readonly BodyShape[] = [
  filled('a header of unknown names', '', 'a,', 'id\n1\n'),
  numbered('a header of distinct unknown names', 'id', (n) => `,${n.toString(36)}`, '\n1\n'),
  numbered('a header of names near known ones', 'id', (n) => `,nam${n.toString(36)}`, '\n1\n'),
  filled('a header of one known name', '', 'id,', 'id\n1\n'),
  {
    name: 'a header of unknown names, then a known one repeated',
    of: (bytes) =>
      Buffer.from(`${'a,'.repeat(Math.floor(bytes * 0.25))}${'id,'.repeat(Math.floor(bytes * 0.16))}id\n1\n`),
  },
  filled('a header of empty names', '', ',', '\n1\n'),
  filled('a header of quoted names', '', '"id",', '"id"\n1\n'),
  filled('a long name in the header', 'id,', 'x', '\n1,a\n'),
  filled('a quoted name of line feeds', 'id,"', '\n', '"\n1,a\n'),
  filled('a quoted name of quotes', 'id,"', '""', '"\n1,a\n'),
  filled('a quoted name that is never closed', 'id,"', 'x', ''),
  filled('a row of empty cells', `${csvHeader}\n`, ',', '\n'),
  filled('a row of cells', `${csvHeader}\n1`, ',a', '\n'),
  filled('a row of quoted cells', `${csvHeader}\n1`, ',""', '\n'),
  filled('a quoted cell of line feeds', `${csvHeader}\n1,"`, '\n', '"\n'),
  filled('a quoted cell of carriage returns', `${csvHeader}\n1,"`, '\r\n', '"\n'),
  filled('a quoted cell of quotes', `${csvHeader}\n1,"`, '""', '"\n'),
  filled('a quoted cell that is never closed', `${csvHeader}\n1,"`, 'x', ''),
  filled('a quoted cell of line feeds that is never closed', `${csvHeader}\n1,"`, '\n', ''),
  filled('text after a quoted cell', `${csvHeader}\n1,"a"`, 'x', '\n'),
  filled('a long cell', `${csvHeader}\n1,`, 'x', '\n'),
  filled('a long id', `${csvHeader}\n1`, '0', ',a\n'),
  filled('a date with a long fraction', 'id,name,create_date\n1,a,2026-01-01T00:00:00.', '0', 'Z\n'),
  filled('a long decimal', 'id,name,list_price\n1,a,0.', '0', '1\n'),
  filled('a long exponent', 'id,name,list_price\n1,a,1e', '9', '\n'),
  ofBytes('invalid UTF-8', `${csvHeader}\n1,`, 0xff, '\n'),
  filled('NUL', `${csvHeader}\n1,`, '\0', '\n'),
]

/** Many small rows. */
export const csvBodyShapes: readonly BodyShape[] = [
  filled('rejected rows of one cell', `${csvHeader}\n`, 'x\n', ''),
  filled('rejected rows of two cells', `${csvHeader}\n`, 'x,\n', ''),
  filled('blank rows', `${csvHeader}\n`, '\n', ''),
  filled('blank rows before the header', '', '\n', `${csvHeader}\n1,a\n`),
  filled('blank rows with carriage returns', `${csvHeader}\n`, '\r\n', ''),
  filled('carriage returns', `${csvHeader}\n`, '\r', '\n'),
  filled('rows of two empty cells', `${csvHeader}\n`, ',\n', ''),
  filled('rows of quoted empty cells', `${csvHeader}\n`, '"",""\n', ''),
  filled('rows with too many cells', `${csvHeader}\n`, '1,a,,,,,,,,\n', ''),
  filled('one row repeated', `${csvHeader}\n`, '1,a\n', ''),
  filled('headers repeated', '', `${csvHeader}\n`, ''),
  numbered('valid rows', `${csvHeader}\n`, (n) => `${n + 10_000},row ${n}\n`, ''),
  filled('byte order marks', '\uFEFF', '\uFEFF', `${csvHeader}\n1,a\n`),
  filled('semicolons', 'id;name\n', '1;a\n', ''),
]
