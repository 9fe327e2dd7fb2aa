import type { Random } from '../../random.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { ClusterNode } from '../cluster/node.ts'

/** The cluster as it is when a fault begins. */
export interface Scene {
  readonly cluster: Cluster
  readonly primary: ClusterNode
  /** The synchronous one. */
  readonly standby: ClusterNode
  readonly other: ClusterNode
  readonly random: Random
}

export interface Fault {
  readonly name: string
  /**
   * How long it lasts: until writes work again, so that a failover is complete before the node comes back, or a number of
   * milliseconds, from the shortest to the longest.
   */
  readonly lasts: 'until-writes' | readonly [number, number]
  /** Returns how to end it. */
  begin(scene: Scene): Promise<() => Promise<void> | void> | (() => Promise<void> | void)
}

/** From this number on, the recovery after some faults is measured often enough for a median. */
const longRun = 60

/**
 * A seeded order of faults. `killed` is a third of a long run and `planned` a sixth. Every run has one of `once`. All others follow
 * in rounds. A short run begins with one of each of the three, because on a busy machine its last ones may be left out, and has
 * `killed` and `planned` twice.
 */
export function schedule(
  faults: readonly Fault[],
  { killed, planned, once }: { readonly killed: Fault; readonly planned: Fault; readonly once: Fault },
  count: number,
  random: Random,
): Fault[] {
  const isLong = count >= longRun
  const often = (share: number, fault: Fault) => Array.from({ length: Math.ceil(count * share) }, () => fault)
  const fixed = isLong
    ? [...often(1 / 3, killed), ...often(1 / 6, planned), once]
    : [killed, planned, once, killed, planned]
  const others = faults.filter((fault) => fault !== killed && fault !== planned && fault !== once)
  const chosen: Fault[] = fixed.slice(0, count)
  while (chosen.length < count) chosen.push(...shuffled(others, random).slice(0, count - chosen.length))
  const inOrder = isLong ? 0 : 3
  return [...chosen.slice(0, inOrder), ...shuffled(chosen.slice(inOrder), random)]
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, order: random.next() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ item }) => item)
}
