import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Check } from '../check.ts'
import { output, packed, tsc7, tsc59 } from './packed.ts'
import { tsconfig } from './programs.ts'

const casesMin = 40
const source = fileURLToPath(new URL('../../../client/test/compiles.ts', import.meta.url))

/** Compiles `client/test/compiles.ts` against the packed types: the compiler must report each expected error at its line, and no other. */
export const typeCases: Check = {
  name: 'type_cases',
  bound: `≥ ${casesMin} as expected, by 2 compilers`,
  async run(context) {
    const text = readFileSync(source, 'utf8').replace("'../src/index.ts'", "'@quartermaster/client'")
    const expected = expectedErrors(text)
    const positives = text.match(/^ *\/\/ yes: /gm)?.length ?? 0
    const files = {
      'package.json': '{"private":true,"type":"module"}',
      'cases.ts': text.replaceAll('@ts-expect-error', 'expected:'),
      'tsconfig.json': tsconfig('nodenext', 'nodenext'),
    }
    const folder = await (await packed(context)).project('types', files)
    const wrong: string[] = []
    for (const [name, tsc] of Object.entries({ 'TypeScript 5.9': tsc59, 'TypeScript 7': tsc7 })) {
      const printed = await output(
        process.execPath,
        [tsc, '-p', '.', '--noEmit', '--pretty', 'false'],
        folder,
      ).catch(String)
      const found = foundErrors(printed)
      for (const [line, codes] of expected)
        if (!codes.includes(found.get(line) ?? ''))
          wrong.push(`${name}, line ${line}: ${codes.join('/')} is missing`)
      for (const [line, code] of found)
        if (!expected.has(line)) wrong.push(`${name}, line ${line}: unexpected ${code}`)
    }
    const count = positives + expected.size
    return {
      value: `${wrong.length} wrong of ${positives} that compile, ${expected.size} that do not`,
      samples: Math.min(positives, expected.size),
      ok: wrong.length === 0 && count >= casesMin,
      ...(wrong.length === 0 ? {} : { note: wrong.join('\n') }),
    }
  },
}

/** The error codes by line, which is the one after the comment. Several codes if the compilers differ. */
function expectedErrors(text: string): Map<number, readonly string[]> {
  const lines = text.split('\n').entries()
  return new Map(
    lines.flatMap(([at, line]) => {
      const codes = /@ts-expect-error ([\d/]+) /.exec(line)?.[1]?.split('/')
      return codes === undefined ? [] : [[at + 2, codes] as const]
    }),
  )
}

function foundErrors(printed: string): Map<number, string> {
  const errors = printed.matchAll(/\((\d+),\d+\): error TS(\d+)/g)
  return new Map(errors.map(([, line, code = '']) => [Number(line), code]))
}
