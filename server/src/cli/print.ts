/** Data goes to stdout, one form per command; everything that is said about it goes to stderr. */

export function printJson(data: unknown): void {
  process.stdout.write(`${JSON.stringify(data)}\n`)
}

export function printLine(line: string): void {
  process.stdout.write(`${line}\n`)
}

export function note(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** Columns that line up. The last one is not padded, so free text belongs there. */
export function printTable(headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = headings.map((heading, i) =>
    Math.max(heading.length, ...rows.map((row) => row[i]?.length ?? 0)),
  )
  for (const row of [headings, ...rows]) {
    const cells = row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0)))
    printLine(cells.join('  ').trimEnd())
  }
}

/** To the second, in UTC; `never` where there is no such moment. */
export function moment(date: Date | null): string {
  return date === null ? 'never' : `${date.toISOString().slice(0, 19)}Z`
}
