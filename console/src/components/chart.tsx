import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

export interface Series {
  readonly label: string
  readonly values: readonly number[]
  /** A CSS variable with the colour. */
  readonly color: string
  readonly isBar?: boolean
}

interface ChartProps {
  readonly label: string
  /** Seconds since 1970. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
  readonly unit: string
  /** A range was selected with the mouse. */
  readonly onZoom: (from: number, to: number) => void
}

const height = 170

/** Values over time. Dragging selects a range. */
export function Chart({ label, times, series, unit, onZoom }: ChartProps) {
  const host = useRef<HTMLDivElement>(null)
  const zoom = useRef(onZoom)
  zoom.current = onZoom
  useEffect(() => {
    const element = host.current
    if (element === null) return undefined
    const data: uPlot.AlignedData = [[...times], ...series.map(({ values }) => [...values])]
    const plot = new uPlot(optionsOf(element.clientWidth, series, unit, zoom), data, element)
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [times, series, unit])
  return (
    <figure className="chart">
      <figcaption>{label}</figcaption>
      <div ref={host} />
    </figure>
  )
}

function optionsOf(
  width: number,
  series: readonly Series[],
  unit: string,
  zoom: { readonly current: ChartProps['onZoom'] },
): uPlot.Options {
  const style = getComputedStyle(document.documentElement)
  const color = (name: string) => style.getPropertyValue(name).trim()
  const axis = {
    font: `11px ${color('--sans')}`,
    stroke: color('--dim'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
  }
  return {
    width,
    height,
    cursor: { drag: { x: true, y: false, setScale: false } },
    scales: {
      x: { range: (_, min, max) => padded(min, max) },
      y: { range: (_, __, max) => [0, Math.max(max * 1.1, 1)] },
    },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
    axes: [
      { ...axis, incrs: tickSeconds, values: (_, ticks) => timeLabels(ticks) },
      {
        ...axis,
        size: 60,
        space: 28,
        values: (_, ticks) => ticks.map((tick) => `${tick.toLocaleString('en')}${unit}`),
      },
    ],
    series: [
      {
        label: 'UTC',
        value: (_, at) =>
          at == null ? '' : new Date(at * 1_000).toISOString().slice(0, 16).replace('T', ' '),
      },
      ...series.map(({ label, color: name, isBar }) => ({
        label,
        stroke: color(name),
        width: 1.5,
        points: { show: isBar !== true, size: 4 },
        ...(isBar === true && uPlot.paths.bars !== undefined
          ? { fill: color(name), paths: uPlot.paths.bars({ size: [0.7, 24] }) }
          : {}),
        value: (_: uPlot, value: number | null) =>
          value == null ? '' : `${Math.round(value * 10) / 10}${unit}`,
      })),
    ],
    hooks: {
      setSelect: [
        (plot) => {
          const { left, width: extent } = plot.select
          if (extent > 4) zoom.current(plot.posToVal(left, 'x'), plot.posToVal(left + extent, 'x'))
        },
      ],
    },
  }
}

/** No tick within a minute: usage is counted by minute. */
const tickSeconds = [60, 300, 600, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400, 604_800, 2_592_000]

/** Space for half a bar at both ends. */
function padded(min: number, max: number): [number, number] {
  const space = Math.max((max - min) * 0.04, 30)
  return [min - space, max + space]
}

/** Times of a day; days if the ticks are that far apart. All in UTC. */
function timeLabels(ticks: readonly number[]): string[] {
  const isDays = (ticks[1] ?? 0) - (ticks[0] ?? 0) >= 86_400
  return ticks.map((tick) => {
    const text = new Date(tick * 1_000).toISOString()
    return isDays || text.slice(11, 16) === '00:00' ? text.slice(5, 10) : text.slice(11, 16)
  })
}
