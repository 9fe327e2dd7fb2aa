/** Rows as columns that line up. Columns of numbers are aligned to the right. */
export function table(rows: readonly (readonly (string | number)[])[], indent = ''): string {
  const widths: number[] = []
  for (const row of rows)
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, textOf(cell).length)
  return rows
    .map((row) => {
      const cells = row.map((cell, i) => {
        const [text, width] = [textOf(cell), widths[i] ?? 0]
        return typeof cell === 'number' ? text.padStart(width) : text.padEnd(width)
      })
      return `${indent}${cells.join('  ').trimEnd()}\n`
    })
    .join('')
}

function textOf(cell: string | number): string {
  return typeof cell === 'number' ? cell.toLocaleString('en-US') : cell
}
