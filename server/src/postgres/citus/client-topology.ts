import type pg from 'pg'
import type { Topology } from '../../topology.ts'

const distributed = new WeakSet<pg.ClientBase>()

/** Remembers that the connection is to a node of a Citus cluster. */
export function markDistributed(client: pg.ClientBase): void {
  distributed.add(client)
}

export function topologyOf(client: pg.ClientBase): Topology {
  return distributed.has(client) ? 'distributed' : 'single'
}
