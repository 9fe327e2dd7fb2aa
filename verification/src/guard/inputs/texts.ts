/** A pattern for a text that could be expensive to parse. */
export interface Shape {
  readonly name: string
  /** A text of at most this length. */
  of(length: number): string
}

const single = ` ,;=&|()[]{}"'\\/%?#*!<>-+.:@_~^$019aTqeWx`.split('')

/** Units to repeat: separators, nearly valid tokens, escapes, and openings that are never closed. */
const repeated = [
  [
    'a,',
    ',a',
    'x&',
    'x=1&',
    '&&=',
    '=,',
    '; ',
    ';q=1',
    ' ,',
    '\t',
    '\t ',
    'a ',
    ' a',
    '%20',
    '+a',
    '..',
    '/.',
    '/..',
    '//',
  ],
  [
    'gzip,',
    'gzip;q=0,',
    'gzip;q=0.000001,',
    '*;q=0,',
    '*/*,',
    'text/csv;',
    'text/csv,',
    'text/csv;q=0.1,',
    'a/b;c="',
  ],
  [
    'W/"a",',
    '"a",',
    '"a',
    '\\"',
    '\\\\',
    '"\\',
    '\'"',
    'W/',
    'Bearer ',
    'bearer  ',
    'qm_',
    'qm_0123456789',
    '100-continue,',
  ],
  [
    'name,',
    'nane,',
    'id,',
    'idd,',
    'list_prise,',
    'NAME,',
    'name ,',
    'fields=',
    'filter=',
    'page=1&',
    'limit=1&',
  ],
  [
    'name=1&',
    'nane=1&',
    'nane=1|',
    'id=1|',
    'id=1&',
    '(id=1)&',
    '((',
    '))',
    '(id=1|',
    'name[a,',
    'name[',
    'id![1,',
    'name*',
    'name!*a&',
  ],
  [
    'active=yes&',
    'write_date>T ',
    'list_price>1e9&',
    'name="a"&',
    'name="a',
    'name=\\',
    'name=a and ',
    'id=1,',
  ],
  [
    '2026-11-14T',
    'T 02:00',
    '2026-11-14 09:30 ',
    '1e9',
    '0.0',
    '1.',
    '-1',
    '--',
    '00',
    '9,',
    'null,',
    'true,',
    'yes,',
  ],
  ['::ffff:', '::', '127.0.0.1,', '127.0.0.1, ', '[::1]', 'a.', 'a-', 'localhost.', '.localhost', ':80'],
  [
    '00-',
    '0af7651916cd43dd8448eb211c80319c-',
    'a=b; ',
    'a=b,',
    '%41',
    '%C3%A9',
    '%F0%9F%98%80',
    '%zz',
    '%2',
    '%00',
    '%25',
    '%2525',
  ],
  ['{"a":', '[[', '{}', '"a":1,', '"a":"b",', '[1,', '\\u0000', '\\ud83d', 'é', '😀', '\u0301', 'ﬁ', 'İ'],
].flat()

/** A start, a unit to repeat, and an end that makes the text invalid. */
const runs: readonly (readonly [string, string, string])[] = [
  ['gzip', ' ', 'x'],
  ['gzip;', ' ', 'x'],
  ['gzip;q=0.', '0', 'x'],
  ['*', '\t', 'x'],
  ['text/csv;q=0.', '0', 'x'],
  ['text/csv;', ' ', ';'],
  ['application/json', ' ', ';'],
  ['application/json;', ' ', 'x'],
  ['application/json; a="', '\\"', ''],
  ['W/"', 'a', ''],
  ['Bearer ', ' ', 'x'],
  ['qm_', 'a', ''],
  ['acme', 'a', '.localhost'],
  ['acme.localhost:', '1', 'x'],
  ['[', ':', ''],
  ['', '1.', 'x'],
  ['name=', ' ', 'x'],
  ['name="', 'a', ''],
  ['name="', '\\', ''],
  ['name=', '\\', ''],
  ['name*', '%25', ''],
  ['name!*', '_', ''],
  ['name[', 'a,', ''],
  ['id[', '1,', '1]'],
  ['id![', '7,', 'x]'],
  ['', '(', 'id=1'],
  ['', '(', `id=1${')'.repeat(32)}`],
  ['write_date>', 'T', ''],
  ['write_date>2026-11-14T', ' ', '02:00'],
  ['write_date>2026-11-14T09:30:00.', '9', 'Z'],
  ['list_price>', '9', ''],
  ['list_price>0.', '0', '1'],
  ['list_price>1e', '9', ''],
  ['id>', '1', 'x'],
  ['active=', 'true', ''],
  ['{"name":"', 'a', '"}'],
  ['{"name":"', '\\u0001', '"}'],
  ['{"name":"', '\\ud83d', '"}'],
  ['{"name":"', ' ', '"}'],
  ['{"name":', '[', ''],
  ['{"name":', '{"a":', ''],
  ['{"name":"a","', 'x', '":1}'],
  ['{', '"a":1,', '"a":1}'],
  ['{"name":"a","scopes":[', '"x",', '"x"]}'],
  ['{"name":"a","scopes":[', '1,', '1]}'],
  ['{"name":"a","scopes":["product:read"],"expires_at":"', 'T', '"}'],
  ['{"overlap_seconds":', '9', '}'],
  ['{"overlap_seconds":0,"expires_at":"', '2026-11-14T ', '"}'],
]

export const shapes: readonly Shape[] = [
  ...[...single, ...repeated].map((unit) => ({
    name: `${JSON.stringify(unit)} repeated`,
    of: (length: number) => unit.repeat(Math.floor(length / unit.length)),
  })),
  ...runs.map(([start, unit, end]) => ({
    name: `${JSON.stringify(start)}, ${JSON.stringify(unit)} repeated, ${JSON.stringify(end)}`,
    of: (length: number) =>
      start + unit.repeat(Math.max(0, Math.floor((length - start.length - end.length) / unit.length))) + end,
  })),
  { name: 'distinct names', of: (length) => numbered(length, (n) => `x${n},`) },
  {
    name: 'distinct names similar to known ones',
    of: (length) => numbered(length, (n) => `nam${n % 10}${n},`),
  },
  { name: 'distinct parameters', of: (length) => numbered(length, (n) => `x${n}=1&`) },
  { name: 'distinct members', of: (length) => `{${numbered(length - 8, (n) => `"x${n}":1,`)}"x":1}` },
  { name: 'random characters', of: scattered },
]

function numbered(length: number, unit: (n: number) => string): string {
  const parts: string[] = []
  for (let [n, size] = [0, 0]; ; n++) {
    const part = unit(n)
    size += part.length
    if (size > length) return parts.join('')
    parts.push(part)
  }
}

/** Printable characters from a linear congruential generator, the same every time. */
function scattered(length: number): string {
  let [state, text] = [1, '']
  while (text.length < length) {
    state = (state * 48_271) % 2_147_483_647
    text += String.fromCharCode(0x20 + (state % 0x5f))
  }
  return text
}
