import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/** The programs in the guides are the files in `examples/`, which the check `guides` runs. */

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8')

it('every program in a guide is identical to its file, and every file is in a guide', () => {
  const names = readdirSync(`${root}docs/guides`).flatMap((guide) =>
    Array.from(
      read(`docs/guides/${guide}`).matchAll(/^```ts (\S+)\n([\s\S]*?)^```$/gm),
      ([, name = '', program]) => {
        expect(program, `${guide}: ${name}`).toBe(read(`examples/${name}`))
        return name
      },
    ),
  )
  expect(names.toSorted()).toEqual(
    readdirSync(`${root}examples`)
      .filter((name) => name.endsWith('.ts'))
      .toSorted(),
  )
})
