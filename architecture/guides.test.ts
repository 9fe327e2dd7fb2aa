import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/** The programs in the guides are the files in `examples/`, which the check `guides` runs. Long ones are only linked. */

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8')

it('every program or excerpt in a guide is identical to its file, and every file is in a guide or linked', () => {
  const guides = readdirSync(`${root}docs/guides`)
  const shown = guides.flatMap((guide) =>
    Array.from(
      read(`docs/guides/${guide}`).matchAll(/^```ts (\S+)\n([\s\S]*?)^```$/gm),
      ([, name = '', program]) => {
        expect(program, `${guide}: ${name}`).toBe(read(`examples/${name}`))
        return name
      },
    ),
  )
  const linked = guides.flatMap((guide) =>
    Array.from(
      read(`docs/guides/${guide}`).matchAll(/\]\(\.\.\/\.\.\/examples\/(\S+)\)/g),
      ([, name = '']) => name,
    ),
  )
  for (const guide of guides) {
    const excerpts = read(`docs/guides/${guide}`).matchAll(/^```ts from (\S+)\n([\s\S]*?)^```$/gm)
    for (const [, name = '', excerpt] of excerpts)
      expect(read(`examples/${name}`), `${guide}: ${name}`).toContain(excerpt)
  }
  const python = [...read('docs/guides/python.md').matchAll(/^```python (\S+)$/gm)].map(
    ([, name = '']) => name,
  )
  expect([...shown, ...linked, ...python].toSorted()).toEqual(readdirSync(`${root}examples`).toSorted())
})
