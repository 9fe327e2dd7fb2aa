import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { postgresBinaries } from '../../../server/src/cli/database/find-postgres.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Connection } from '../../../server/src/postgres/connection.ts'
import { addWebhook, startWebhookFixture, type WebhookFixture } from '../changes/webhook-fixture.ts'
import type { Check, Context } from '../check.ts'
import { headersFor } from '../client.ts'
import { Random } from '../random.ts'
import type { ServerProcess } from '../service.ts'
import { waitUntil } from '../wait-until.ts'

const marker = 'mkerased'
const account = 'acme'
const partners = '/api/v1/resources/partner'
const exec = promisify(execFile)

interface Person {
  readonly id: number
  readonly values: Readonly<Record<string, string>>
  /** Writes that can be sent again with the same key. */
  readonly retries: readonly Sent[]
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: object
  readonly headers?: readonly string[]
}

/** Persons leave values wherever a request can; after they are erased, no byte of them is found. */
export const personErased: Check = {
  name: 'erased',
  bound: '0 in a dump, logs and responses',
  needs: ['pg_dump'],
  async run(context) {
    const fixture = await startWebhookFixture()
    try {
      const url = fixture.service.environment['DATABASE_URL'] ?? ''
      return await withClient(url, (client) => new Erasing(context, fixture, client).run())
    } finally {
      await fixture.stop()
    }
  },
}

class Erasing {
  readonly #context: Context
  readonly #fixture: WebhookFixture
  readonly #database: Connection
  readonly #random: Random
  readonly #servers: ServerProcess[] = []
  /** Responses after the erasures. */
  readonly #texts: string[] = []
  #isErased = false

  constructor(context: Context, fixture: WebhookFixture, database: Connection) {
    this.#context = context
    this.#fixture = fixture
    this.#database = database
    this.#random = new Random(context.seed, 93)
  }

  async run() {
    const { service, receiver, environment } = this.#fixture
    const settings = { ...environment, QUARTERMASTER_LOG_LEVEL: 'trace' }
    for (let n = 0; n < 2; n++) this.#servers.push(await service.serve(settings))
    receiver.respond = () => ({ status: 500 })
    await this.#declare()
    await addWebhook(this.#fixture, this.#port, { resource: 'partner' })
    const [persons, kept] = await this.#live(this.#context.size(300, 30))
    await this.#send({ method: 'GET', path: partners, headers: ['Accept', 'application/x-ndjson'] })
    await waitUntil(() => receiver.messages.some(({ text }) => text.includes(marker)))
    const { cursor }: { cursor: string } = JSON.parse(
      await this.#send({ method: 'GET', path: `${partners}/changes?since=now` }),
    )
    await sleep(2_000)
    const before = await this.#dumpHas()
    const exporting = await this.#startExport()

    const kills = await this.#erase(persons)
    this.#isErased = true
    receiver.messages.length = 0
    receiver.respond = () => ({ status: 204 })
    const cutOff = await isCutOff(exporting)
    await this.#untilFinished(persons.length)
    await this.#read(persons, cursor)
    await waitUntil(() => erasedIn(receiver.messages.map(({ text }) => text)).size >= persons.length)
    for (const { text } of receiver.messages) this.#texts.push(text)
    await this.#database.query('vacuum')
    const inDump = await this.#dumpHas()
    const inLogs = this.#servers.reduce((sum, { log }) => sum + count(readFileSync(log, 'utf8')), 0)
    const inResponses = this.#texts.reduce((sum, text) => sum + count(text), 0)
    const told = erasedIn(this.#texts).size
    const isKept = await this.#isKept(kept)
    return {
      value: `${inDump} in a dump, ${inLogs} in logs, ${inResponses} in ${this.#texts.length} responses; ${persons.length} persons, ${kills} kills`,
      samples: Math.min(persons.length, before, this.#texts.length),
      ok:
        inDump + inLogs + inResponses === 0 &&
        told === persons.length &&
        cutOff &&
        isKept &&
        before > persons.length,
      note: `${before} lines of the dump before; receivers told of ${told}; export cut off: ${cutOff}; others kept: ${isKept}`,
    }
  }

  get #port(): number {
    return this.#random.pick(this.#servers).port
  }

  async #send({ method, path, body, headers = [] }: Sent, port = this.#port): Promise<string> {
    const { client, key } = this.#fixture
    const own =
      body === undefined || headers.includes('Content-Type') ? [] : ['Content-Type', 'application/json']
    const text = typeof body === 'object' ? JSON.stringify(body) : undefined
    const response = await client.sendUntilAccepted({
      port,
      method,
      path,
      headers: [...headersFor(account, key), ...own, ...headers],
      ...(text === undefined ? {} : { body: text }),
    })
    if (this.#isErased) this.#texts.push(response.text)
    return response.text
  }

  async #declare(): Promise<void> {
    for (const body of [
      { resource: 'partner', name: 'x_card', type: 'text', label: 'Card', unique: true },
      { resource: 'partner', name: 'x_note', type: 'text', label: 'Note' },
      { resource: 'partner', name: 'email', unique: true },
    ])
      await this.#send({ method: 'POST', path: '/manage/v1/fields', body })
    await waitUntil(async () => {
      const { rows } = await this.#database.query(`select from field where unique_state <> 'ready'`)
      return rows.length === 0
    })
    // Enough for filters on declared fields to use their table of values.
    await this.#database.query(
      `insert into partner (account_id, id, version, name, is_company, is_patient, is_customer, is_vendor, is_employee, active, create_date, write_date)
       select account_id, g, 1, repeat('x', 400) || g, false, false, false, false, false, true, now(), now()
       from account, generate_series(1, 30000) g where account.name = $1`,
      [account],
    )
    await this.#database.query(
      `update tally set version = 1, total = 30000, last_id = 30000 where resource = 'partner'`,
    )
  }

  /** Persons to be erased, and others. */
  async #live(persons: number): Promise<[Person[], Person[]]> {
    const progress = this.#context.progress('persons', 2 * persons)
    const lives: [Person[], Person[]] = [[], []]
    for (let n = 0; n < persons; n++) {
      lives[0].push(await this.#liveOne(`${marker}${n}`, n))
      lives[1].push(await this.#liveOne(`mkkept${n}`, n))
      progress.step(2)
    }
    progress.end()
    return lives
  }

  async #liveOne(name: string, n: number): Promise<Person> {
    const values = {
      name: `${name} Person`,
      email: `${name}@people.example`,
      phone: `+49 ${name}`,
      x_card: `card-${name}`,
      x_note: `Note on ${name}`,
    }
    const create = {
      method: 'POST',
      path: partners,
      body: values,
      headers: ['Idempotency-Key', `create-${name.startsWith(marker) ? 'e' : 'k'}${n}`],
    }
    const { data }: { data: { id: number } } = JSON.parse(await this.#send(create))
    const path = `${partners}/${data.id}`
    const patch = {
      method: 'PATCH',
      path,
      body: { name: `Dr ${name} Person` },
      headers: ['Idempotency-Key', `patch-${name.startsWith(marker) ? 'e' : 'k'}${n}`],
    }
    await this.#send(patch)
    await this.#send({
      method: 'POST',
      path: `${partners}/batch`,
      body: {
        rows: [
          { id: data.id, x_note: `Batch on ${name}` },
          { name: '', email: values.email },
        ],
      },
    })
    const filters = [
      `name="${values.name}"`,
      `email*${name.slice(0, -1)}`,
      `active=true&(x_card="${values.x_card}"|x_note*"${name}")`,
      `email="${values.email}"&(`,
    ]
    for (const filter of filters) {
      const encoded = `filter=${encodeURIComponent(filter)}`
      const form = ['Content-Type', 'application/x-www-form-urlencoded']
      await this.#send({ method: 'GET', path: `${partners}?${encoded}` })
      await this.#send({ method: 'GET', path: `${partners}/summary?${encoded}` })
      await this.#send({ method: 'QUERY', path: `${partners}?${encoded}`, headers: form })
    }
    await this.#send({ method: 'GET', path: `${partners}/email/${encodeURIComponent(values.email)}` })
    await this.#send({
      method: 'PATCH',
      path: `${partners}/x_card/${values.x_card}`,
      body: { phone: values.phone },
    })
    // The error says whose the address is.
    await this.#send({ method: 'PATCH', path: `${partners}/1`, body: { email: values.email } })
    await this.#send({
      method: 'POST',
      path: '/manage/v1/webhooks',
      body: { resource: 'partner', url: 'http://x.example', filter: `email="${values.email}"` },
    })
    return { id: data.id, values, retries: [create, patch] }
  }

  /** Most over HTTP, some by commands that are killed; and a process that is killed while it searches. */
  async #erase(persons: readonly Person[]): Promise<number> {
    const killed = persons.slice(0, 3)
    for (const { id } of killed) {
      const child = this.#fixture.service.spawn(['erase', String(id), '--account', account])
      await sleep(this.#random.integer(200, 1_500))
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    const commands = killed.map(({ id }) =>
      this.#fixture.service.command(['erase', String(id), '--account', account]),
    )
    for (const { id } of persons.slice(3))
      await this.#send({ method: 'DELETE', path: `${partners}/${id}?erase=true` })
    const [first] = this.#servers
    await sleep(this.#random.integer(100, 3_000))
    await first?.kill()
    await first?.start()
    await Promise.all(commands)
    return killed.length + 1
  }

  async #untilFinished(persons: number): Promise<void> {
    await waitUntil(async () => {
      const { rows } = await this.#database.query<{ done: number }>(
        `select count(*)::int as done from erasure where terms is null and finished_at is not null`,
      )
      return rows[0]?.done === persons
    })
  }

  /** A client that reads the headers and stops. */
  async #startExport(): Promise<Socket> {
    const socket = connect(this.#port, '127.0.0.1').on('error', () => {})
    const headers = headersFor(account, this.#fixture.key)
    const lines = headers.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${headers[i + 1]}`] : []))
    socket.write(`GET ${partners} HTTP/1.1\r\n${lines.join('\r\n')}\r\nAccept: application/x-ndjson\r\n\r\n`)
    await once(socket, 'readable')
    socket.read()
    return socket
  }

  /** Everything that the account can read, and retries of the writes. */
  async #read(persons: readonly Person[], cursor: string): Promise<void> {
    const paths = [
      `${partners}?after_id=30000&limit=1000`,
      `${partners}/changes?since=${cursor}&limit=1000`,
      `${partners}/summary?group=name&filter=id%3E30000`,
      '/manage/v1/audit?limit=1000',
      '/manage/v1/deliveries?limit=1000',
      '/manage/v1/usage?limit=1000',
      '/manage/v1/webhooks',
    ]
    for (const { port } of this.#servers)
      for (const path of paths) await this.#send({ method: 'GET', path }, port)
    for (let page = 1; ; page++) {
      const text = await this.#send({ method: 'GET', path: `/manage/v1/requests?limit=1000&page=${page}` })
      if (text.includes('"data":[]') || !text.startsWith('{"data"')) break
    }
    await this.#send({ method: 'GET', path: partners, headers: ['Accept', 'application/x-ndjson'] })
    for (const { id, retries } of persons) {
      await this.#send({ method: 'GET', path: `${partners}/${id}` })
      for (const retry of retries) {
        const text = await this.#send(retry)
        if (!text.includes('idempotency_mismatch')) throw new Error(`a retry was answered: ${text}`)
      }
    }
  }

  /** The records of others, and what is logged of them. */
  async #isKept(kept: readonly Person[]): Promise<boolean> {
    const { rows } = await this.#database.query<{ records: number; filters: number; results: number }>(
      `select (select count(*)::int from partner where email like 'mkkept%') as records,
       (select count(*)::int from request where filter like 'name="mkkept%') as filters,
       (select count(*)::int from idempotency where body like '%mkkept%') as results`,
    )
    const [row] = rows
    const all = kept.length
    return row?.records === all && row.filters >= 2 * all && row.results === all
  }

  /** In how many lines of a dump of the whole database the marker is. */
  async #dumpHas(): Promise<number> {
    const url = this.#fixture.service.environment['DATABASE_URL'] ?? ''
    const command = `"${join(postgresBinaries(), 'pg_dump')}" "$0" | grep -ci ${marker} || true`
    return Number((await exec('sh', ['-c', command, url])).stdout)
  }
}

function count(text: string): number {
  return text.toLowerCase().split(marker).length - 1
}

function erasedIn(texts: readonly string[]): ReadonlySet<string> {
  const found = texts.flatMap((text) => [...text.matchAll(/"id":(\d+),"version":\d+,"erased":true/g)])
  return new Set(found.map((match) => match[1] ?? ''))
}

/** Whether the export ends without its last line. */
async function isCutOff(socket: Socket): Promise<boolean> {
  let text = ''
  const ended = new Promise((resolve) => socket.once('close', resolve))
  await sleep(2_500)
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  await ended
  return !text.includes('"$end"') && !text.includes(marker)
}
