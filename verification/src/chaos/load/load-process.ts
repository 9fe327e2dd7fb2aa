import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Growing, Ledger } from '../../fresh/oracle.ts'
import { partnerPath, type Row } from '../../fresh/read.ts'
import { Random } from '../../random.ts'
import { FeedCopy } from './feed.ts'
import type { Acknowledged, LedgerAccount, LedgerFile, LoadAccount, LoadOptions } from './messages.ts'
import { read, type Watched } from './readers.ts'
import { Contradiction, Sender, type Server } from './sender.ts'
import { batch, type Created, change, createdId, grow, upsert } from './writers.ts'

/**
 * The load, in a process and a network namespace of its own. Its argument is a file with the options. It ends when the supervisor
 * sends a message: then every write in flight is repeated until it is acknowledged, so that the expected records are known exactly.
 */
const readers = 6
const creators = 8
const upserters = 20
const probeMs = 200
const probesInFlightMax = 80
const readyMs = 500

interface Written extends Watched {
  readonly created: Created
  readonly copy: FeedCopy
}

const options: LoadOptions = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
const { servers, seed } = options
const sender = new Sender(servers, options.events)
let over = false
const isOver = () => over
process.once('message', () => (over = true))
process.once('disconnect', () => process.exit(1))

const accounts = options.accounts.map(
  (account, at): Written => ({
    account,
    oracle: account.kind === 'change' || account.kind === 'batch' ? new Ledger([]) : new Growing(),
    tags: new Map(),
    created: { acknowledged: new Map(), unknown: new Set() },
    copy: new FeedCopy(account, sender, new Random(seed, 94, at)),
  }),
)

await Promise.all([
  ...accounts.flatMap(written).map((writing) => writing.catch(stopWriting)),
  ...accounts.map(({ copy }) => copy.follow(isOver)),
  ...Array.from({ length: readers }, (_, n) => read(sender, accounts, new Random(seed, 93, n), isOver)),
  ...servers.map(readiness),
])
await Promise.all(accounts.map(({ copy }) => copy.catchUp()))
const ledger: LedgerFile = { acknowledged: sender.acknowledged, accounts: accounts.map(ledgerOf) }
writeFileSync(options.ledger, JSON.stringify(ledger))
await sender.close()
process.exit(0)

/** The writer of an account ends, and what was acknowledged before is compared with the table. */
function stopWriting(error: unknown): void {
  if (!(error instanceof Contradiction)) throw error
}

/** The writers of an account. */
function written({ account, oracle, created }: Written, at: number): Promise<void>[] {
  const writing = (n: number) => ({ sender, account, random: new Random(seed, 92, at, n), isOver })
  if (oracle instanceof Ledger) return [(account.kind === 'change' ? change : batch)(writing(0), oracle)]
  if (account.kind === 'probe') return servers.map((server) => probe(account, server, oracle, created))
  if (account.kind === 'upsert')
    return Array.from({ length: upserters }, (_, n) => upsert(writing(n), oracle, created))
  return Array.from({ length: creators }, (_, n) => grow(writing(n), oracle, created, n))
}

/** Sends creates at a fixed rate, whatever became of those before: they show when writes work again. */
async function probe(account: LoadAccount, server: Server, oracle: Growing, created: Created): Promise<void> {
  const inFlight = new Set<Promise<unknown>>()
  for (let n = 1; !isOver(); n++) {
    if (inFlight.size < probesInFlightMax) {
      const one: Promise<unknown> = probeOnce(
        account,
        server,
        oracle,
        created,
        `probe ${server.name}-${n}`,
      ).finally(() => inFlight.delete(one))
      inFlight.add(one)
    }
    await sleep(probeMs)
  }
  await Promise.all(inFlight)
}

async function probeOnce(
  account: LoadAccount,
  server: Server,
  oracle: Growing,
  created: Created,
  name: string,
) {
  oracle.begin()
  created.unknown.add(name)
  const { status, text, event } = await sender.send(account, server, {
    kind: 'probe',
    method: 'POST',
    path: partnerPath,
    headers: ['Content-Type', 'application/json', 'Idempotency-Key', name],
    body: JSON.stringify({ name }),
  })
  if (status !== 201) return
  const id = createdId(text)
  oracle.acknowledged(id, name)
  created.acknowledged.set(name, id)
  created.unknown.delete(name)
  sender.acknowledged += 1
  const message: Acknowledged = { server: server.name, sentAt: event.at, at: event.at + event.ms }
  process.send?.(message)
}

async function readiness(server: Server): Promise<void> {
  const [first] = options.accounts
  if (first === undefined) return
  const inFlight = new Set<Promise<unknown>>()
  while (!isOver()) {
    const one: Promise<unknown> = sender
      .send(first, server, { kind: 'ready', path: '/readyz' })
      .finally(() => inFlight.delete(one))
    inFlight.add(one)
    await sleep(readyMs)
  }
  await Promise.all(inFlight)
}

function ledgerOf({ account, oracle, created, copy }: Written): LedgerAccount {
  const { name } = account
  const copied = [...copy.names]
  if (oracle instanceof Ledger) return { name, rows: oracle.rows.map(rowOf), copy: copied }
  return { name, created: [...created.acknowledged], unknown: [...created.unknown], copy: copied }
}

function rowOf(row: Row): readonly [number, ...(string | boolean | null)[]] {
  return [row.id, row.name, row.is_company, row.is_customer, row.email, row.phone]
}
