import { blocksOf, operatorDocuments as documents } from '../../../architecture/documented.ts'
import type { Check } from '../check.ts'
import {
  accounts,
  capacity,
  configure,
  doctor,
  hosts,
  install,
  processes,
  records,
  upgrade,
  watch,
} from './operator/chapters.ts'
import { incidents, notMigrated } from './operator/incidents.ts'
import { OperatorMachine } from './operator/machine.ts'

/** In the order in which an operator reads them. */
const chapters = [
  install,
  configure,
  hosts,
  processes,
  watch,
  accounts,
  records,
  upgrade,
  capacity,
  doctor,
  notMigrated,
  incidents,
]

/**
 * Runs the blocks of docs/operating, from the files of a release to incidents. The blocks of images, backup, restore, poolers and
 * deploy/ are run by the checks and tests of those.
 */
export const operatorDocuments: Check = {
  name: 'operator_documents',
  needs: ['psql', 'pg_isready', 'redis-server', 'redis-cli', 'curl', 'openssl'],
  bound: 'every block works',
  async run(context) {
    const machine = await OperatorMachine.start()
    try {
      for (const chapter of chapters) {
        context.log(chapter.name)
        await chapter(machine)
      }
      const all = documents().flatMap((document) => blocksOf(document))
      const run = all.filter(({ text }) => machine.blocksRun.has(text))
      return { value: `${run.length} blocks`, samples: run.length, ok: run.length > 0 }
    } finally {
      await machine.stop()
    }
  },
}
