/** How the documents may write the value of a limit, by the unit in its name. */

const words = [
  '',
  'once',
  'twice',
  'three times',
  'four times',
  'five times',
  'six times',
  'seven times',
  'eight times',
]

const grouped = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 6 })

function numbers(value: number): string[] {
  return [String(value), grouped(value)]
}

const withUnit = (value: number, ...units: string[]) =>
  numbers(value).flatMap((number) => units.map((unit) => `${number} ${unit}`))

/** 1 has more forms: `a second`, `an hour`, `every minute`. */
const one = (value: number, unit: string) =>
  value === 1 ? [`a ${unit}`, `an ${unit}`, `every ${unit}`, `per ${unit}`, `once a ${unit}`] : []

function durations(ms: number): string[] {
  const perSecond = 1000 / ms
  const often = perSecond === 10 ? 'ten times' : words[perSecond]
  return [
    ...withUnit(ms, 'ms', 'milliseconds'),
    ...withUnit(ms / 1000, 's', 'seconds', 'second'),
    ...withUnit(ms / 60_000, 'min', 'minutes', 'minute'),
    ...withUnit(ms / 3_600_000, 'h', 'hours', 'hour'),
    ...withUnit(ms / 86_400_000, 'days', 'day'),
    ...one(ms / 1000, 'second'),
    ...one(ms / 60_000, 'minute'),
    ...one(ms / 3_600_000, 'hour'),
    ...one(ms / 86_400_000, 'day'),
    ...(often === undefined ? [] : [`${often} a second`]),
  ]
}

const sizes = (value: number) => [
  ...numbers(value),
  ...withUnit(value / 1024, 'KB', 'K'),
  ...withUnit(value / 1024 ** 2, 'MB', 'M'),
  ...withUnit(value / 1024 ** 3, 'GB'),
]

/** The texts of which one must be in a sentence about this limit. */
export function formsOf(name: string, value: number): string[] {
  if (/Ms(?:M(?:ax|in)|Default)?$/.test(name)) return durations(value)
  if (/Seconds(?:M(?:ax|in))?$/.test(name)) return durations(value * 1000)
  if (/Bytes|Characters/.test(name)) return sizes(value)
  if (/Ratio/.test(name)) return [...numbers(value), ...withUnit(Math.round((value - 1) * 100), '%')]
  return [...numbers(value), ...withUnit(value / 1024, 'K'), ...withUnit(value / 1_000_000, 'M')]
}

/** Whether a text contains one of the forms, not as part of a longer number. */
export function hasForm(text: string, forms: readonly string[]): boolean {
  return forms.some((form) => {
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1)) {
      const before = text.slice(Math.max(0, at - 2), at)
      const after = text.slice(at + form.length, at + form.length + 2)
      if (!/[\d.]$|\d,$/.test(before) && (!/^(?:\w|[.,]\d)/.test(after) || /^(?:st|nd|rd|th)/.test(after)))
        return true
    }
    return false
  })
}
