/** Data is written to stdout, hints and progress to stderr. */

export function printJson(data: unknown): void {
  process.stdout.write(`${JSON.stringify(data)}\n`)
}

export function printLine(line: string): void {
  process.stdout.write(`${line}\n`)
}

export function note(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** Aligns the columns, except the last one, which is not padded. */
export function printTable(headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = headings.map((heading, i) =>
    Math.max(heading.length, ...rows.map((row) => row[i]?.length ?? 0)),
  )
  for (const row of [headings, ...rows]) {
    const cells = row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0)))
    printLine(cells.join('  ').trimEnd())
  }
}

/** In UTC, to the second. */
export function formatTime(date: Date | null): string {
  return date === null ? 'never' : `${date.toISOString().slice(0, 19)}Z`
}
