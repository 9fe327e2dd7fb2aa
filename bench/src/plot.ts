import type { Bar, Series } from './benchmark.ts'
import { short } from './numbers.ts'

export interface Row extends Series {
  readonly name: string
  readonly bound: string
  readonly ok: boolean
}

const width = 800
const left = 250
const barsWidth = 330
const rowHeight = 52
const top = 64

/** A bar of the service above one of the baseline. Each row has its own scale, and a line at the bound. */
export function plot(rows: readonly Row[], caption: string): string {
  const height = top + rows.length * rowHeight + 12
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="The service and its baselines">
<style>
  text { font: 12px system-ui, sans-serif; fill: #1f2328 }
  .title { font-size: 15px; font-weight: 600 }
  .quiet { fill: #59636e }
  .service { fill: #0969da }
  .other { fill: #9aa4af }
  .short { fill: #bc4c00 }
  line { stroke: #1f2328; stroke-width: 1.5; stroke-dasharray: 3 2 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc }
    .quiet { fill: #9198a1 }
    .service { fill: #4493f8 }
    .other { fill: #656c76 }
    .short { fill: #f0883e }
    line { stroke: #f0f6fc }
  }
</style>
<text x="16" y="26" class="title">The service and its baselines</text>
<text x="16" y="46" class="quiet">${escaped(caption)}. Dashed: the bound of the service’s bar. Each row has its own scale.</text>
${rows.map((row, i) => rowOf(row, top + i * rowHeight)).join('\n')}
</svg>
`
}

function rowOf(row: Row, y: number): string {
  const { service, other, limit, unit } = row
  const max = Math.max(service.value, other?.value ?? 0, limit)
  const x = (value: number) => (left + (value / max) * barsWidth).toFixed(1)
  const barOf = (bar: Bar, at: number, kind: string) => {
    const length = Math.max(1, (bar.value / max) * barsWidth).toFixed(1)
    return `<rect x="${left}" y="${at}" width="${length}" height="14" rx="2" class="${kind}"/>
<text x="${left + barsWidth + 10}" y="${at + 11}">${escaped(`${short(bar.value)} ${unit}`)} <tspan class="quiet">${escaped(bar.name)}</tspan></text>`
  }
  return `<text x="16" y="${y + 14}">${escaped(row.name)} <tspan class="quiet">${escaped(row.bound)}${row.ok ? '' : ', short'}</tspan></text>
<text x="16" y="${y + 31}" class="quiet">${escaped(row.label)}</text>
${barOf(service, y + 3, row.ok ? 'service' : 'short')}
${other === undefined ? '' : barOf(other, y + 20, 'other')}
<line x1="${x(limit)}" x2="${x(limit)}" y1="${y}" y2="${y + 20}"/>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
