import type { Attack } from './attack.ts'
import { batchAttacks } from './batches.ts'
import { readAttacks } from './reads.ts'
import { streamAttacks } from './streams.ts'
import { writeAttacks } from './writes.ts'

/** Every attack. A new one is an entry in one of these files; its figures follow from its name. */
export const attacks: readonly Attack[] = [...streamAttacks, ...batchAttacks, ...writeAttacks, ...readAttacks]
