import { type Config, servingRolesOf } from '../../../config/config.ts'
import type { Connection } from '../../../postgres/connection.ts'
import { type Finding, ok, problem } from '../finding.ts'

/** Only if the tables can be on several servers. */
export async function checkDistribution(client: Connection, config: Config): Promise<Finding[]> {
  const inspected = await client.layout.inspect(client, servingRolesOf(config))
  return inspected.map(({ message, repair }) =>
    repair === undefined ? ok('distribution', message) : problem('distribution', message, repair),
  )
}
