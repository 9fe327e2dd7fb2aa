import type { Context } from '../check.ts'
import { inParallel } from '../parallel.ts'
import { Random } from '../random.ts'
import type { Fixture, ProofAccount } from './fixture.ts'
import { markers } from './markers.ts'
import { randomText } from './rows.ts'
import { resourceNames, resources } from './schema.ts'

/**
 * Sends odd texts in the other parts of requests that could reach a statement: ids, fields, hosts, keys, names of new
 * partners. Every text contains the marker. Returns the requests that caused a 5xx.
 */
export async function sendOddRequests(fixture: Fixture, context: Context, count: number): Promise<string[]> {
  const wrong: string[] = []
  const progress = context.progress('odd requests', count)
  await inParallel(count, 16, async (index) => {
    const { status, text } = await sendOne(fixture, new Random(context.seed, 9, index))
    if (status >= 500) wrong.push(`#${index} ${status} for ${text}`)
    progress.step()
  })
  progress.end()
  return wrong
}

interface Sent {
  readonly status: number
  readonly text: string
}

async function sendOne(fixture: Fixture, random: Random): Promise<Sent> {
  const account: ProofAccount = fixture.spare
  const { path } = resources[random.pick(resourceNames)]
  const text = `${markers.text}${randomText(random, 40)}`
  const odd = encodeURIComponent(text)
  const id = random.pick(['1', '0', '-1', '1e3', '9007199254740993', `1${odd}`, odd, '1%20or%201=1', "1'--"])
  const style = random.integer(0, 7)
  if (style === 0) return sent(fixture.send(account, `${path}/${id}`), id)
  if (style === 1)
    return sent(fixture.send(account, `${path}/${random.integer(1, 300)}?fields=name,${odd}`), odd)
  if (style === 2) return sent(fixture.send(account, `${path}?fields=id,${odd}&limit=${odd}`), odd)
  if (style === 3) return sent(fixture.send(account, `${path}?page=${id}&filter=${odd}=1`), odd)
  if (style === 4)
    return sent(fixture.send({ ...account, key: `${account.key}' or ${headerText(text)}` }, path), text)
  if (style === 5) return sent(fixture.send({ ...account, name: `x' or ${headerText(text)}` }, path), text)
  if (style === 6) {
    const filter = encodeURIComponent(`name*"${text.replaceAll(/["\\]/g, '-')}"|id>3`)
    const since = random.pick(['now', odd, id])
    return sent(fixture.send(account, `${path}/changes?since=${since}&filter=${filter}`), odd)
  }
  return sent(fixture.create(account, text, random.chance(0.5) ? headerText(text) : undefined), text)
}

async function sent(response: Promise<{ status: number }>, text: string): Promise<Sent> {
  return { status: (await response).status, text }
}

/** Replaces characters that a header cannot contain. */
function headerText(text: string): string {
  return text.replace(/[^\x21-\x7e]/gu, '-')
}
