import type { Happened } from '../chaos-run.ts'
import type { Event } from '../load/messages.ts'
import { isAnswered, isFailed, isRead, isWrite, quantile } from './statistics.ts'

const width = 1000
const left = 60
const right = 16
const panelHeight = 150
const panelGap = 34
const top = 86
/** The numbers of faults that follow each other closely are in different rows. */
const numberRows = 3
const numberHeight = 11
const pointsMax = 400
const nameHeight = 16

const style = `<style>
  text { font: 12px system-ui, sans-serif; fill: #1f2328 }
  .title { font-size: 15px; font-weight: 600 }
  .quiet { fill: #59636e; font-size: 11px }
  polyline { fill: none; stroke-width: 1.3 }
  .reads { stroke: #0969da }
  .writes { stroke: #1a7f37 }
  .failed { stroke: #cf222e }
  .median { stroke: #8250df }
  .fault { fill: #bc4c00; opacity: 0.3 }
  .recovery { fill: #bc4c00; opacity: 0.12 }
  .axis { stroke: #9aa4af; stroke-width: 0.6 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc }
    .quiet { fill: #9198a1 }
    .reads { stroke: #4493f8 }
    .writes { stroke: #3fb950 }
    .failed { stroke: #f85149 }
    .median { stroke: #ab7df8 }
  }
</style>`

interface Slice {
  readonly at: number
  readonly events: readonly Event[]
}

interface Line {
  readonly name: string
  readonly kind: string
  value(slice: Slice): number
}

/** Rates and latencies over time. A band marks each fault: dark while it lasts, light until the cluster is healthy again. */
export function plot(events: readonly Event[], happened: readonly Happened[], caption: string): string {
  const from = Math.min(...events.map(({ at }) => at).slice(0, 1000))
  const to = events.reduce((last, { at }) => Math.max(last, at), from + 1)
  const sliceMs = Math.max(1_000, Math.ceil((to - from) / pointsMax / 1_000) * 1_000)
  const slices = slicesOf(events, from, sliceMs)
  const x = (at: number) => left + ((at - from) / (to - from)) * (width - left - right)
  const perSecond = (count: number) => count / (sliceMs / 1_000)
  const rate = (of: (event: Event) => boolean) => (slice: Slice) => perSecond(slice.events.filter(of).length)
  const rates: readonly Line[] = [
    { name: 'reads answered', kind: 'reads', value: rate((event) => isRead(event) && isAnswered(event)) },
    {
      name: 'writes acknowledged',
      kind: 'writes',
      value: rate((event) => isWrite(event) && isAnswered(event)),
    },
    { name: 'failed', kind: 'failed', value: rate((event) => event.kind !== 'ready' && isFailed(event)) },
  ]
  const latency = (of: (event: Event) => boolean, share: number) => (slice: Slice) =>
    quantile(
      slice.events.filter(of).map(({ ms }) => ms),
      share,
    )
  const latencies: readonly Line[] = [
    { name: 'reads, slowest', kind: 'reads', value: latency(isRead, 1) },
    { name: 'writes, slowest', kind: 'writes', value: latency(isWrite, 1) },
    { name: 'writes, median', kind: 'median', value: latency(isWrite, 0.5) },
  ]
  const second = top + panelHeight + panelGap
  const namesTop = second + panelHeight + 46
  const height = namesTop + Math.ceil(happened.length / 3) * nameHeight + 8
  const bands = happened.map((one, n) => band(one, n, x, second + panelHeight)).join('\n')
  const names = happened.map(
    ({ name }, n) =>
      `<text x="${left + (n % 3) * 310}" y="${namesTop + Math.floor(n / 3) * nameHeight}" class="quiet">${n + 1} ${escaped(name)}</text>`,
  )
  const linear = (max: number) => (value: number) => value / max
  const logarithmic = (value: number) => Math.log10(Math.max(1, value)) / 5
  const highest = Math.max(1, ...slices.flatMap((slice) => rates.map((line) => line.value(slice))))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Rates and latencies while faults happen">
${style}
<text x="16" y="26" class="title">Rates and latencies while faults happen</text>
<text x="16" y="46" class="quiet">${escaped(caption)}. One point is ${sliceMs / 1000} s.</text>
${bands}
${panel(rates, slices, x, top, linear(highest), [[highest, `${Math.round(highest)}/s`]])}
${panel(
  latencies,
  slices,
  x,
  second,
  logarithmic,
  [10, 100, 1_000, 10_000].map((ms) => [ms, ms < 1_000 ? `${ms} ms` : `${ms / 1_000} s`]),
)}
${minutes(from, to, x, second + panelHeight)}
${names.join('\n')}
</svg>
`
}

function slicesOf(events: readonly Event[], from: number, sliceMs: number): Slice[] {
  const slices = new Map<number, Event[]>()
  for (const event of events) {
    const at = from + Math.floor((event.at - from) / sliceMs) * sliceMs
    const slice = slices.get(at)
    if (slice === undefined) slices.set(at, [event])
    else slice.push(event)
  }
  return [...slices].toSorted(([a], [b]) => a - b).map(([at, inside]) => ({ at, events: inside }))
}

function band(
  { beganAt, endedAt, settledAt }: Happened,
  n: number,
  x: (at: number) => number,
  bottom: number,
): string {
  const rect = (from: number, to: number, kind: string) =>
    `<rect x="${x(from).toFixed(1)}" y="${top}" width="${Math.max(1, x(to) - x(from)).toFixed(1)}" height="${bottom - top}" class="${kind}"/>`
  return `${rect(beganAt, endedAt, 'fault')}${rect(endedAt, settledAt, 'recovery')}<text x="${x(beganAt).toFixed(1)}" y="${top - 3 - (n % numberRows) * numberHeight}" class="quiet">${n + 1}</text>`
}

function panel(
  lines: readonly Line[],
  slices: readonly Slice[],
  x: (at: number) => number,
  y: number,
  scale: (value: number) => number,
  ticks: readonly (readonly [number, string])[],
): string {
  const at = (value: number) => (y + panelHeight - scale(value) * (panelHeight - 12)).toFixed(1)
  const drawn = lines.map(
    (line) =>
      `<polyline class="${line.kind}" points="${slices.map((slice) => `${x(slice.at).toFixed(1)},${at(line.value(slice))}`).join(' ')}"/>`,
  )
  const axis = ticks.map(
    ([value, text]) =>
      `<line x1="${left}" x2="${width - right}" y1="${at(value)}" y2="${at(value)}" class="axis"/><text x="${left - 6}" y="${Number(at(value)) + 4}" text-anchor="end" class="quiet">${text}</text>`,
  )
  const legend = lines.map(
    ({ name, kind }, n) =>
      `<line x1="${left + n * 170}" x2="${left + 18 + n * 170}" y1="${y + panelHeight + 14}" y2="${y + panelHeight + 14}" class="${kind}" stroke-width="2"/><text x="${left + 22 + n * 170}" y="${y + panelHeight + 18}" class="quiet">${name}</text>`,
  )
  return [...axis, ...drawn, ...legend].join('\n')
}

function minutes(from: number, to: number, x: (at: number) => number, bottom: number): string {
  const stepMs = Math.max(1, Math.ceil((to - from) / 60_000 / 12)) * 60_000
  const marks: string[] = []
  for (let at = from; at < to; at += stepMs)
    marks.push(
      `<text x="${x(at).toFixed(1)}" y="${bottom + 32}" class="quiet">${Math.round((at - from) / 60_000)} min</text>`,
    )
  return marks.join('\n')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
