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

const explanations: Readonly<Record<string, string>> = {
  cached: 'Cached: the service had this response, and the data is unchanged.',
  read: 'Read from the database for this request.',
  joined: 'Shared the read of another request that was in flight.',
  unchanged: 'Not modified: your copy in this browser is current (304).',
}

export function sourceText(source: string | undefined, status: number): string {
  if (status === 304) return explanations['unchanged'] ?? ''
  return explanations[source ?? ''] ?? 'Known to keys with the scope account:manage.'
}
