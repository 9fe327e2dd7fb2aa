import type { BenchFigure } from './figure.ts'
import { growAccounts, growRecords } from './grow.ts'
import { jump } from './jump.ts'
import { memory } from './memory.ts'
import { coldList, create, notModified, oneRecordCold, warmList } from './rates.ts'
import { totalAgain } from './total-again.ts'
import { walkFlat, walkLimit } from './walk.ts'

/** In this order: the largest data are loaded last, and the memory is that of all before it. */
export const figures: readonly BenchFigure[] = [
  warmList,
  notModified,
  coldList,
  oneRecordCold,
  create,
  totalAgain,
  walkFlat,
  walkLimit,
  jump,
  growAccounts,
  growRecords,
  memory,
]
