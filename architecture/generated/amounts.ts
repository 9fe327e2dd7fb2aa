/** Values of limits as the documents write them. */

export const count = (value: number) => value.toLocaleString('en-US')

export function size(bytes: number): string {
  const megabytes = bytes / 1024 ** 2
  return megabytes >= 1 ? `${count(megabytes)} MB` : `${count(bytes / 1024)} KB`
}

const units = [
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
] as const

export function duration(ms: number): string {
  if (ms < 1_000) return `${count(ms)} ms`
  const [unit, name] = units.find(([length]) => ms >= length && ms % length === 0) ?? [1_000, 'second']
  const value = ms / unit
  return `${count(value)} ${name}${value === 1 ? '' : 's'}`
}
