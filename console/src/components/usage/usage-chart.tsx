import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef, useState } from 'react'
import uPlot from 'uplot'
import { useColorScheme } from '../../lib/color-scheme.ts'
import { t } from '../../texts/texts.ts'

export interface Series {
  readonly label: string
  /** Null: there is no value. */
  readonly values: readonly (number | null)[]
  /** A CSS variable with the colour. */
  readonly color: string
  readonly isBar?: boolean
}

interface UsageChartProps {
  readonly title: string
  readonly note: string
  /** What a chart shows that cannot be seen. */
  readonly summary: string
  /** The start of every point, in seconds since 1970. */
  readonly times: readonly number[]
  readonly intervalSeconds: number
  readonly series: readonly Series[]
  readonly format: (value: number) => string
  /** The end of the axis, from the highest value. */
  readonly axisMax: (highest: number) => number
  /** A range was selected with the mouse, in seconds. */
  readonly onZoom: (from: number, to: number) => void
  /** The chart was double-clicked. */
  readonly onReset: () => void
}

const height = 168
/** No tick within a minute: usage is counted by minute. */
const tickSeconds = [
  60, 120, 300, 600, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 432_000, 864_000,
  2_592_000, 5_184_000,
]
/** Pixels. A shorter selection is a click. */
const selectionMin = 6

/** Values over time. Dragging selects a range, a double click shows the full one again. */
export function UsageChart(props: UsageChartProps) {
  const { title, note, summary, times, series, format } = props
  const host = useRef<HTMLDivElement>(null)
  const [hovered, setHovered] = useState<number>()
  const latest = useRef(props)
  latest.current = props
  const scheme = useColorScheme()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours of the scheme are read from the document
  useEffect(() => {
    const element = host.current
    if (element === null) return undefined
    const plot = new uPlot(
      optionsOf(element.clientWidth, latest, setHovered),
      dataOf(latest.current),
      element,
    )
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [times, series, scheme])
  const at = hovered === undefined ? undefined : times[hovered]
  return (
    <figure className="chart" aria-label={title}>
      <figcaption>
        <b>{title}</b>
        <span className="chart-legend" aria-hidden="true">
          {at !== undefined && <span className="dim">{timeText(at)}</span>}
          {series.map(({ label, color, values }) => (
            <span key={label}>
              <i data-color={color} /> {label}{' '}
              {hovered !== undefined && <b>{valueText(values[hovered], format)}</b>}
            </span>
          ))}
        </span>
        <span className="chart-note">{note}</span>
      </figcaption>
      <div ref={host} role="img" aria-label={summary} />
    </figure>
  )
}

/** The points of a chart are in the middle of their intervals. */
function dataOf({ times, intervalSeconds, series }: UsageChartProps): uPlot.AlignedData {
  return [times.map((time) => time + intervalSeconds / 2), ...series.map(({ values }) => [...values])]
}

function optionsOf(
  width: number,
  latest: { readonly current: UsageChartProps },
  onHover: (index: number | undefined) => void,
): uPlot.Options {
  const { times, intervalSeconds, series, format, axisMax } = latest.current
  const style = getComputedStyle(document.documentElement)
  const color = (name: string) => style.getPropertyValue(name).trim()
  const axis: uPlot.Axis = {
    font: `11px ${color('--sans')}`,
    stroke: color('--dim'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
  }
  const first = times[0] ?? 0
  const end = (times.at(-1) ?? 0) + intervalSeconds
  return {
    width,
    height,
    legend: { show: false },
    padding: [10, 18, 0, 0],
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false },
      sync: { key: 'usage' },
      bind: {
        dblclick: () => () => {
          latest.current.onReset()
          return null
        },
      },
    },
    scales: {
      x: { range: [first, end] },
      y: { range: (_, __, highest) => [0, axisMax(highest ?? 0)] },
    },
    axes: [
      { ...axis, space: 60, size: 28, incrs: tickSeconds, values: (_, ticks) => ticks.map(tickText(ticks)) },
      { ...axis, size: 62, space: 34, values: (_, ticks) => ticks.map(format) },
    ],
    series: [{}, ...series.map((one) => seriesOf(one, color(one.color)))],
    hooks: {
      setCursor: [(plot) => onHover(plot.cursor.idx ?? undefined)],
      setSelect: [
        (plot) => {
          const { left, width: extent } = plot.select
          if (extent < selectionMin) return
          const from = plot.posToVal(left, 'x')
          const to = plot.posToVal(left + extent, 'x')
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
          latest.current.onZoom(from, to)
        },
      ],
    },
  }
}

function seriesOf({ label, values, isBar }: Series, stroke: string): uPlot.Series {
  if (isBar === true && uPlot.paths.bars !== undefined) {
    return {
      label,
      fill: stroke,
      width: 0,
      points: { show: false },
      paths: uPlot.paths.bars({ size: [0.76, 36] }),
    }
  }
  // A value between two gaps is no line: it is shown as a point.
  const isolated = values.flatMap((value, index) =>
    value !== null && (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null
      ? [index]
      : [],
  )
  return { label, stroke, width: 1.6, points: { show: true, size: 5, fill: stroke, filter: () => isolated } }
}

/** Times of the day; the date at midnight, or if the ticks are that far apart. In UTC. */
function tickText(ticks: readonly number[]): (tick: number) => string {
  const isDays = (ticks[1] ?? 0) - (ticks[0] ?? 0) >= 86_400
  return (tick) => {
    const text = new Date(tick * 1_000).toISOString()
    return isDays || text.slice(11, 16) === '00:00' ? t.time.shortDay(text.slice(0, 10)) : text.slice(11, 16)
  }
}

function timeText(seconds: number): string {
  const text = new Date(seconds * 1_000).toISOString()
  return text.slice(11, 16) === '00:00' ? t.time.day(text.slice(0, 10)) : text.slice(11, 16)
}

function valueText(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? '–' : format(value)
}
