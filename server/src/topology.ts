/**
 * Where the tables are: all on one server, or distributed by `account_id` over the workers of a Citus cluster. What differs
 * between the two is chosen from a `Record<Topology, …>`, so that a missing case does not compile.
 */
export type Topology = 'single' | 'distributed'
