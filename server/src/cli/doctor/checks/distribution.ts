import type pg from 'pg'
import { type Config, servingRolesOf } from '../../../config/config.ts'
import { layoutOf } from '../../../postgres/layout.ts'
import { type Finding, ok, problem } from '../finding.ts'

/** Only if the tables can be on several servers. */
export async function checkDistribution(client: pg.Client, config: Config): Promise<Finding[]> {
  const inspected = await layoutOf(client).inspect(client, servingRolesOf(config))
  return inspected.map(({ message, repair }) =>
    repair === undefined ? ok('distribution', message) : problem('distribution', message, repair),
  )
}
