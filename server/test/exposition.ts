/** Parses the part of Prometheus' text format that the tests need. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export function samplesOf(text: string): Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value = ''] = /^([\w:]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      if (name === '') throw new Error(`not a sample: ${line}`)
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', of = '']) => [
        key,
        of,
      ])
      return { name, labels: Object.fromEntries(pairs), value: Number(value) }
    })
}

export async function scrape(adminPort: number | undefined): Promise<{ text: string; samples: Sample[] }> {
  const response = await fetch(`http://127.0.0.1:${adminPort}/metrics`)
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.status}: ${text}`)
  return { text, samples: samplesOf(text) }
}

/** The one sample with this name and at least these labels. */
export function sampleOf(
  samples: readonly Sample[],
  name: string,
  labels: Record<string, string> = {},
): number {
  const found = samples.filter(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([label, of]) => sample.labels[label] === of),
  )
  if (found.length !== 1) throw new Error(`${found.length} samples of ${name} ${JSON.stringify(labels)}`)
  return found[0]?.value ?? Number.NaN
}
