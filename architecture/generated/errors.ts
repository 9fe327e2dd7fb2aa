import { errorCodes } from '../../server/src/errors/errors.ts'
import { statusOf } from '../../server/src/http/problem.ts'
import { detailTexts } from '../../server/src/http/reference/detail-texts.ts'
import { errorTexts } from '../../server/src/http/reference/error-texts.ts'
import { cell, code, plain, table } from './markdown.ts'

/** The tables of codes, from the texts of the pages that the service serves about them. */

/** The page says for all codes that an error means that nothing was written, unless its row says otherwise. */
export function codesOfErrors(): string {
  const sorted = errorCodes.toSorted((a, b) => statusOf[a] - statusOf[b])
  return table(
    ['Status and code', 'When, and what to do'],
    sorted.map((one) => {
      const { when, remedy, isObvious = false } = errorTexts[one]
      const text = when.replace(' Nothing was written.', '')
      return [`${statusOf[one]} ${code(one)}`, isObvious ? cell(text) : plain(`${text} ${remedy}`)]
    }),
  )
}

/** Codes with the same cause are in one row. */
export function codesIn(part: (place: string, code: string) => boolean): string {
  const causes = new Map<string, string[]>()
  for (const [one, { place, cause }] of Object.entries(detailTexts)) {
    if (part(place, one)) causes.set(cause, [...(causes.get(cause) ?? []), code(one)])
  }
  return table(
    ['Code', 'Cause'],
    [...causes].map(([cause, list]) => [list.join(', '), cell(cause)]),
  )
}
