import { limits } from '../limits/limits.ts'
import type { Node, Nodes, WriteNode } from '../postgres/layout.ts'
import { serverUrls } from '../postgres/primary/database-url.ts'
import { placeholder, sql } from '../sql.ts'

/** The worker with the accounts whose hash is in this range. */
interface Placement {
  /** A shard that is moved or split gets another one. */
  readonly id: string
  readonly from: number
  readonly to: number
  /** `host:port`, as the nodes name each other. */
  readonly node: string
}

type PlacementRow = Readonly<Record<keyof Placement, string>>

const placementsStatement =
  sql`select p.placementid as id, s.shardminvalue as from, s.shardmaxvalue as to, n.nodename || ':' || n.nodeport as node
from pg_dist_shard s join pg_dist_placement p on p.shardid = s.shardid
join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'
where s.logicalrelid = 'tally'::regclass`.statement()

/** The placements that each node knows. */
const knownStatement = sql`select success, result from run_command_on_all_nodes($$
  select string_agg(p.placementid::text, ',') from pg_dist_placement p join pg_dist_shard s on s.shardid = p.shardid
  where s.logicalrelid = 'tally'::regclass$$)`.statement()

interface KnownRow {
  readonly success: string
  readonly result: string | null
}

const placementId = placeholder()
const placementTemplate =
  sql`select from pg_dist_placement where placementid = ${placementId}::bigint`.template(
    [placementId],
    'other',
    'generic',
  )

/**
 * Connections to the workers of a Citus cluster. A statement that runs where its shard is costs a sixth: it has no second
 * connection, and the worker keeps its plan. This is never needed for a right result: every node has the metadata, and sends a
 * statement for another worker there. If a worker cannot be reached from here, the statement goes to the node of DATABASE_URL.
 *
 * A node learns of a moved shard in the second phase of a commit, so two nodes may disagree for a moment, and a read through one
 * of them may miss what was written through the other. A write through the coordinator waits until all of them know. A write
 * through a worker is allowed if all of them have known the placement, and if it is the current one on the worker itself.
 */
export class WorkerNodes<Database extends Node<Database>> implements Nodes<Database> {
  readonly #entry: Database
  readonly #url: string
  readonly #timer: NodeJS.Timeout
  readonly #databases = new Map<string, Database>()
  #placements: readonly Placement[] = []
  /** The ids of placements that all nodes know. */
  #known: ReadonlySet<string> = new Set()
  #isAsking = false

  constructor(entry: Database) {
    this.#entry = entry
    this.#url = serverUrls(entry.url)[0]
    this.#timer = setInterval(() => void this.#refresh(), limits.placementsMs).unref()
    void this.#refresh()
  }

  /** Undefined if the worker of the account is not known, or cannot be reached. */
  of(accountId: string): Database | undefined {
    return this.#databaseOf(this.#placementOf(accountId))
  }

  /** Undefined if its writes must go through the coordinator. */
  forWrites(accountId: string): WriteNode<Database> | undefined {
    const placement = this.#placementOf(accountId)
    const database = this.#databaseOf(placement)
    if (placement === undefined || database === undefined || !this.#known.has(placement.id)) return undefined
    return { database, confirm: placementTemplate([placement.id]) }
  }

  #placementOf(accountId: string): Placement | undefined {
    const hash = accountHash(BigInt(accountId))
    return this.#placements.find(({ from, to }) => from <= hash && hash <= to)
  }

  #databaseOf(placement: Placement | undefined): Database | undefined {
    const database = placement && this.#databases.get(placement.node)
    return database?.primary.isReachable === true ? database : undefined
  }

  get all(): readonly Database[] {
    return [...this.#databases.values()]
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.all.map((database) => database.close()))
  }

  /** If the entry is unavailable, the workers may still be where they were. */
  async #refresh(): Promise<void> {
    const rows = await this.#entry.read<PlacementRow>(placementsStatement).catch(() => undefined)
    if (rows === undefined) return
    this.#placements = rows.map(({ id, from, to, node }) => ({
      id,
      from: Number(from),
      to: Number(to),
      node,
    }))
    if (!rows.every(({ id }) => this.#known.has(id))) void this.#askAllNodes()
    const nodes = new Set(rows.map(({ node }) => node))
    for (const [node, database] of this.#databases) {
      if (nodes.has(node)) continue
      this.#databases.delete(node)
      void database.close()
    }
    for (const node of nodes) {
      if (this.#databases.has(node)) continue
      const database = this.#entry.nodeAt(this.#url.replace(/(^[^/]*\/\/(?:[^@/]*@)?)[^/?]*/, `$1${node}`))
      this.#databases.set(node, database)
      // Whether it is reachable is known afterwards.
      void database.connect().catch(() => {})
    }
  }

  /** A node that does not respond may not know of a move. */
  async #askAllNodes(): Promise<void> {
    if (this.#isAsking) return
    this.#isAsking = true
    const rows = await this.#entry.read<KnownRow>(knownStatement).catch(() => [])
    this.#isAsking = false
    if (rows.length === 0 || rows.some(({ success }) => success !== 't')) return
    const [first = new Set<string>(), ...others] = rows.map(({ result }) => new Set(result?.split(',')))
    this.#known = new Set([...first].filter((id) => others.every((ids) => ids.has(id))))
  }
}

/** `hashint8` of PostgreSQL, by which Citus distributes. */
export function accountHash(id: bigint): number {
  const low = Number(BigInt.asUintN(32, id))
  const high = Number(BigInt.asUintN(32, id >> 32n))
  return hashUint32(low ^ (id >= 0n ? high : ~high))
}

/** `hash_bytes_uint32` of PostgreSQL, by Bob Jenkins. */
function hashUint32(key: number): number {
  const start = (0x9e3779b9 + 4 + 3923095) | 0
  let [a, b, c] = [(start + key) | 0, start, start]
  const rotate = (x: number, bits: number) => (x << bits) | (x >>> (32 - bits))
  c = ((c ^ b) - rotate(b, 14)) | 0
  a = ((a ^ c) - rotate(c, 11)) | 0
  b = ((b ^ a) - rotate(a, 25)) | 0
  c = ((c ^ b) - rotate(b, 16)) | 0
  a = ((a ^ c) - rotate(c, 4)) | 0
  b = ((b ^ a) - rotate(a, 14)) | 0
  c = ((c ^ b) - rotate(b, 24)) | 0
  return c
}
