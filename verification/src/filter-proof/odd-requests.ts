import type { Context } from '../check.ts'
import { inParallel } from '../parallel.ts'
import { Random } from '../random.ts'
import type { Fixture, StandAccount } from './fixture.ts'
import { randomText } from './rows.ts'
import { resourceNames, resources } from './schema.ts'

/**
 * What else of a request might find its way into a statement: ids, fields, hosts, keys, names of new partners. Every
 * text bears the marker. None of it may cost more than a refusal.
 */
export async function sendOddRequests(fixture: Fixture, context: Context, count: number): Promise<string[]> {
  const wrong: string[] = []
  const progress = context.progress('odd requests', count)
  await inParallel(count, 16, async (index) => {
    const { status, told } = await sendOne(fixture, new Random(context.seed, 9, index))
    if (status >= 500) wrong.push(`#${index} ${status} to ${told}`)
    progress.step()
  })
  progress.end()
  return wrong
}

async function sendOne(fixture: Fixture, random: Random): Promise<{ status: number; told: string }> {
  const account: StandAccount = fixture.spare
  const { path } = resources[random.pick(resourceNames)]
  const text = `zqx${randomText(random, 40)}`
  const odd = encodeURIComponent(text)
  const id = random.pick(['1', '0', '-1', '1e3', '9007199254740993', `1${odd}`, odd, '1%20or%201=1', "1'--"])
  const style = random.integer(0, 6)
  if (style === 0) return tell(fixture.ask(account, `${path}/${id}`), id)
  if (style === 1)
    return tell(fixture.ask(account, `${path}/${random.integer(1, 300)}?fields=name,${odd}`), odd)
  if (style === 2) return tell(fixture.ask(account, `${path}?fields=id,${odd}&limit=${odd}`), odd)
  if (style === 3) return tell(fixture.ask(account, `${path}?page=${id}&filter=${odd}=1`), odd)
  if (style === 4)
    return tell(fixture.ask({ ...account, key: `${account.key}' or ${marked(text)}` }, path), text)
  if (style === 5) return tell(fixture.ask({ ...account, name: `x' or ${marked(text)}` }, path), text)
  return tell(fixture.create(account, text, random.chance(0.5) ? marked(text) : undefined), text)
}

async function tell(
  asked: Promise<{ status: number }>,
  told: string,
): Promise<{ status: number; told: string }> {
  return { status: (await asked).status, told }
}

/** What a header can carry. */
function marked(text: string): string {
  return text.replace(/[^\x21-\x7e]/gu, '-')
}
