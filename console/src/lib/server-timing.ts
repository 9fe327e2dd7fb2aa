import { t } from '../texts/texts.ts'

export interface Timing {
  readonly name: string
  readonly ms: number
}

export interface ServerTiming {
  readonly timings: readonly Timing[]
  /** `cached`, `read`, `joined` or `unchanged`. */
  readonly source: string | undefined
}

/** Parses `auth;dur=0.4, read;dur=2.1, total;dur=3, source;desc="read"`. */
export function serverTimingOf(header: string | undefined): ServerTiming {
  const timings: Timing[] = []
  let source: string | undefined
  for (const metric of header?.split(',') ?? []) {
    const [name = '', ...parameters] = metric.split(';').map((part) => part.trim())
    for (const parameter of parameters) {
      const [key, value = ''] = parameter.split('=')
      if (key === 'dur' && Number.isFinite(Number(value))) timings.push({ name, ms: Number(value) })
      if (key === 'desc' && name === 'source') source = value.replaceAll('"', '')
    }
  }
  return { timings, source }
}

export function sourceText(source: string | undefined, status: number): string {
  if (status === 304 || source === 'unchanged') return t.record.unchanged
  if (source === 'cached' || source === 'read' || source === 'joined') return t.record[source]
  return t.record.sourceHidden
}
