export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/**
 * The Markdown of our own descriptions as HTML: paragraphs, lists, tables, headings, code, bold and links. A test compares it
 * with every description of the document. `level`: of a `##` heading.
 */
export function markdown(text: string, level = 3): string {
  return text
    .trim()
    .split(/\n{2,}/)
    .map((block) => blockOf(block, level))
    .join('\n')
}

function blockOf(block: string, level: number): string {
  const lines = block.split('\n')
  const [first = ''] = lines
  if (first.startsWith('## ')) {
    const heading = inline(first.slice(3))
    return `<h${level}>${heading}</h${level}>${lines.length > 1 ? blockOf(lines.slice(1).join('\n'), level) : ''}`
  }
  if (first.startsWith('|')) return tableOf(lines)
  const list = lines.findIndex((line) => line.startsWith('- '))
  if (list < 0) return `<p>${inline(block)}</p>`
  const before = list === 0 ? '' : `<p>${inline(lines.slice(0, list).join('\n'))}</p>`
  const items = lines.slice(list).map((line) => `<li>${inline(line.replace(/^- /, ''))}</li>`)
  return `${before}<ul>${items.join('')}</ul>`
}

function tableOf([head = '', , ...rows]: readonly string[]): string {
  const cells = (row: string, tag: string) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => `<${tag}>${inline(cell.trim())}</${tag}>`)
      .join('')
  const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('')
  return `<div class="table"><table><thead><tr>${cells(head, 'th')}</tr></thead><tbody>${body}</tbody></table></div>`
}

/** Code first: nothing in it is markup. */
function inline(text: string): string {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 1 ? `<code>${escaped(part)}</code>` : spansOf(escaped(part))))
    .join('')
}

function spansOf(text: string): string {
  return text
    .replaceAll(/\*\*([^*]*)\*\*/g, '<strong>$1</strong>')
    .replaceAll(/\[([^[\]]*)\]\(([^()\s]*)\)/g, '<a href="$2">$1</a>')
}
