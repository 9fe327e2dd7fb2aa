import type { Check } from '../check.ts'
import { inParallel } from '../parallel.ts'
import { grouped } from '../progress.ts'
import { randomCase } from './cases.ts'
import { proofFixture } from './fixture.ts'
import { encodeForm, encodeRaw } from './write.ts'

/** A filter with raw `&`, `|`, `[`, `>` … gets the same response as the percent-encoded filter. */
export const rawForms: Check = {
  name: 'raw_equals_encoded',
  bound: '0 differ',
  async run(context) {
    const fixture = await proofFixture(context)
    const count = context.size(10_000, 500)
    const differing: string[] = []
    let joined = 0
    const progress = context.progress('filters in both forms', count)
    await inParallel(count, 16, async (index) => {
      const { account, resource, text, random } = shortCase(fixture.accounts, context.seed, index)
      const rest = random.pick(['&limit=1000&fields=id', '&fields=name,id', '&limit=3&page=2', ''])
      const raw = `filter=${encodeRaw(text)}${rest}`
      if (/&(?!limit=|fields=|page=)/.test(raw)) joined += 1
      const [asRaw, asEncoded] = await Promise.all([
        fixture.send(account, `${resource.path}?${raw}`),
        fixture.send(account, `${resource.path}?filter=${encodeForm(text, random)}${rest}`),
      ])
      const same = asRaw.status === asEncoded.status && comparable(asRaw.text) === comparable(asEncoded.text)
      if (!same || asRaw.status >= 500) {
        const [a, b] = [asRaw, asEncoded].map(
          (response) => `${response.status} ${response.text.slice(0, 300)}`,
        )
        differing.push(`#${index} ${resource.name} ${raw}\n  raw ${a}\n  encoded ${b}`)
      }
      progress.step()
    })
    progress.end()
    const note = [`${grouped(joined)} with an unencoded & within the filter`, ...differing.slice(0, 10)].join(
      '\n',
    )
    const ok = differing.length === 0 && joined > count / 5
    return { value: `${differing.length} of ${grouped(count)}`, samples: Math.min(count, joined), ok, note }
  },
}

/** A case that fits into a URL. */
function shortCase<A extends Parameters<typeof randomCase>[0][number]>(
  accounts: readonly A[],
  seed: number,
  index: number,
) {
  for (let attempt = 0; ; attempt += 1) {
    const found = randomCase(accounts, seed, 3, index, attempt)
    if (encodeURIComponent(found.text).length < 8_000) return found
  }
}

function comparable(body: string): string {
  return body.replace(/"request_id":"[^"]*"/, '')
}
