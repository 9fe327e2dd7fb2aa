import { filter, Quartermaster } from '../../../client/src/index.ts'
import type { Check } from '../check.ts'
import { inParallel } from '../parallel.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { Fixture } from './client-fixture.ts'

/** A filter with any text that can be stored, by template or builder, finds the one record that has this text. */
export const roundTrip: Check = {
  name: 'round_trip',
  bound: 'each finds its own record',
  async run(context) {
    const values = texts(context.size(10_000, 300), context.seed)
    const fixture = await Fixture.start()
    try {
      await fixture.import(
        'product',
        values.map((name, at) => ({ id: at + 1, name })),
      )
      const { products } = new Quartermaster({ baseUrl: fixture.baseUrl, apiKey: fixture.key })
      const wrong: string[] = []
      const progress = context.progress('values', values.length)
      await inParallel(values.length, 8, async (at) => {
        const name = values[at] ?? ''
        const [byTemplate, byBuilder] = await Promise.all([
          products.list({ fields: ['id', 'name'], filter: filter`name=${name}` }),
          products.list({ fields: ['id', 'name'], filter: (product) => product.name.eq(name) }),
        ])
        for (const { data } of [byTemplate, byBuilder])
          if (data.length !== 1 || data[0]?.id !== at + 1 || data[0].name !== name)
            wrong.push(`${JSON.stringify(name)} finds ${JSON.stringify(data)}`)
        progress.step()
      })
      progress.end()
      return {
        value: `${wrong.length} wrong of ${grouped(values.length)} × 2`,
        samples: values.length,
        ok: wrong.length === 0,
        ...(wrong.length === 0 ? {} : { note: wrong.slice(0, 10).join('\n') }),
      }
    } finally {
      await fixture.stop()
    }
  },
}

const words = ['null', 'true', '%26', '\\"', '""', '\r\n', '&&', ' "', '" ']
const reserved = ['&|,()[]"\\=!*<> \t\r\n%+#?;:/\'`$_~^{}@-.'.split(''), words].flat()
const ranges = [
  [0x01, 0x1f],
  [0x20, 0x7e],
  [0x7f, 0xff],
  [0x100, 0x24f],
  [0x300, 0x36f],
  [0x590, 0x6ff],
  [0x2000, 0x206f],
  [0x3000, 0x30ff],
  [0xfe00, 0xfeff],
  [0xfff0, 0xffff],
  [0x1f300, 0x1f6ff],
  [0x10fff0, 0x10ffff],
] as const

/** Distinct texts, without what cannot be stored: NUL, unpaired surrogates, more than 512 characters. */
function texts(count: number, seed: number): string[] {
  const random = new Random(seed, 61)
  const unique = new Set(['', ' ', 'null', '"', '\\', 'name="x"|id>0', '%', "'; drop table product; --"])
  while (unique.size < count) {
    const length = random.chance(0.02) ? random.integer(400, 500) : random.integer(1, 24)
    unique.add(
      Array.from({ length }, () => character(random))
        .join('')
        .slice(0, 500)
        .toWellFormed(),
    )
  }
  return [...unique].slice(0, count)
}

function character(random: Random): string {
  if (random.chance(0.5)) return random.pick(reserved)
  const [from, to] = random.pick(ranges)
  return String.fromCodePoint(random.integer(from, to))
}
