/** Joins the texts of several processes: the lines of one metric must be adjacent, after one description. */
export function mergeExpositions(texts: readonly string[]): string {
  const descriptions = new Map<string, string[]>()
  const samples = new Map<string, string[]>()
  for (const text of texts) {
    let name = ''
    let isNew = false
    for (const line of text.split('\n').filter((one) => one !== '')) {
      if (line.startsWith('# HELP ')) {
        name = line.split(' ', 3)[2] ?? ''
        isNew = !descriptions.has(name)
        if (isNew) descriptions.set(name, [])
      }
      if (!line.startsWith('#')) addLine(samples, name, line)
      else if (isNew) addLine(descriptions, name, line)
    }
  }
  const lines = [...descriptions].flatMap(([name, description]) => [
    ...description,
    ...(samples.get(name) ?? []),
  ])
  return `${lines.join('\n')}\n`
}

function addLine(lines: Map<string, string[]>, name: string, line: string): void {
  const list = lines.get(name)
  if (list === undefined) lines.set(name, [line])
  else list.push(line)
}
