import { limits } from '../limits.ts'
import { type Statement, sql } from '../sql.ts'
import type { Topology } from '../topology.ts'
import { serverUrls } from './primary/database-url.ts'
import type { TextRow } from './text-rows.ts'

/** The connections to one node. */
interface Node {
  readonly primary: { readonly isReachable: boolean }
  topology(): Promise<Topology>
  read<Row extends TextRow<Row>>(statement: Statement): Promise<Row[]>
  close(): Promise<void>
}

/** The worker with the accounts whose hash is in this range. */
interface Placement {
  readonly from: number
  readonly to: number
  /** `host:port`, as the nodes name each other. */
  readonly node: string
}

type PlacementRow = Readonly<Record<keyof Placement, string>>

const placementsStatement =
  sql`select s.shardminvalue as from, s.shardmaxvalue as to, n.nodename || ':' || n.nodeport as node
from pg_dist_shard s join pg_dist_placement p on p.shardid = s.shardid
join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'
where s.logicalrelid = 'tally'::regclass`.statement()

/**
 * Connections to the workers of a Citus cluster. A statement that runs where its shard is costs a sixth: it has no second
 * connection, and the worker keeps its plan. This is never needed for a right result: every node has the metadata, and sends a
 * statement for another worker there. If a worker cannot be reached from here, the statement goes to the node of DATABASE_URL.
 *
 * Only for reads. A node learns of a moved shard in the second phase of a commit, so two nodes may disagree for a moment. A write
 * through the coordinator waits until all of them know; a read after it finds the new place on every node.
 */
export class WorkerNodes<Database extends Node> {
  readonly #entry: Database
  readonly #connect: (url: string) => Database
  readonly #url: string
  readonly #timer: NodeJS.Timeout
  readonly #databases = new Map<string, Database>()
  #placements: readonly Placement[] = []

  constructor(entry: Database, url: string, connect: (url: string) => Database) {
    this.#entry = entry
    this.#connect = connect
    this.#url = serverUrls(url)[0]
    this.#timer = setInterval(() => void this.#refresh(), limits.placementsMs).unref()
    void this.#refresh()
  }

  /** Undefined if the worker of the account is not known, or cannot be reached. */
  of(accountId: string): Database | undefined {
    const hash = accountHash(BigInt(accountId))
    const placement = this.#placements.find(({ from, to }) => from <= hash && hash <= to)
    const database = placement && this.#databases.get(placement.node)
    return database?.primary.isReachable === true ? database : undefined
  }

  get all(): Iterable<Database> {
    return this.#databases.values()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all([...this.#databases.values()].map((database) => database.close()))
  }

  /** If the entry is unavailable, the workers may still be where they were. */
  async #refresh(): Promise<void> {
    const rows = await this.#entry.read<PlacementRow>(placementsStatement).catch(() => undefined)
    if (rows === undefined) return
    this.#placements = rows.map(({ from, to, node }) => ({ from: Number(from), to: Number(to), node }))
    const nodes = new Set(rows.map(({ node }) => node))
    for (const [node, database] of this.#databases) {
      if (nodes.has(node)) continue
      this.#databases.delete(node)
      void database.close()
    }
    for (const node of nodes) {
      if (this.#databases.has(node)) continue
      const database = this.#connect(this.#url.replace(/(^[^/]*\/\/(?:[^@/]*@)?)[^/?]*/, `$1${node}`))
      this.#databases.set(node, database)
      // Whether it is reachable is known afterwards.
      void database.topology().catch(() => {})
    }
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
