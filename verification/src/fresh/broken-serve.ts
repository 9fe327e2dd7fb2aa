import { KeyVerifier } from '../../../server/src/accounts/key-verifier.ts'
import { readConfig } from '../../../server/src/config/config.ts'
import { type CachedList, PageCache } from '../../../server/src/lists/page-cache.ts'
import { logTo } from '../../../server/src/observability/logger.ts'
import { Replicas } from '../../../server/src/postgres/replicas/replicas.ts'
import { startService } from '../../../server/src/service.ts'

/**
 * The service with a deliberate fault, to show that the checker detects it. It sends its port to the parent process, and
 * exits with it.
 *
 *     stale   a key verification is used for ten requests, with a tally that was read before the later ones arrived
 *     torn    a total is reused forever, next to a page of another version
 *     replica the tally of a replica is not compared with that of the primary
 */
const [, , breakage] = process.argv
if (breakage === 'stale') reuseVerifications(10)
else if (breakage === 'torn') reuseTotals()
else if (breakage === 'replica') acceptAnyReplica()
else throw new Error(`unknown breakage ${breakage}`)

const config = readConfig(process.env)
const service = await startService(config, {
  databaseUrl: config.DATABASE_URL ?? '',
  host: '127.0.0.1',
  port: 0,
  log: logTo(config.QUARTERMASTER_LOG_LEVEL, 'stderr'),
})
process.send?.(service.port)
process.once('disconnect', () => process.exit())

/** A number of requests, not a time: on a busy machine, a request may take longer than any time chosen here. */
function reuseVerifications(times: number): void {
  type Verification = ReturnType<KeyVerifier['verify']>
  // oxlint-disable-next-line typescript/unbound-method -- it is bound where it is called
  const original = KeyVerifier.prototype.verify
  const recent = new Map<string, { uses: number; readonly verification: Verification }>()
  KeyVerifier.prototype.verify = function (this: KeyVerifier, ...args): Verification {
    const key = JSON.stringify(args)
    const last = recent.get(key)
    if (last !== undefined && last.uses++ < times) return last.verification
    const verification = original.apply(this, args)
    recent.set(key, { uses: 1, verification })
    return verification
  }
}

function reuseTotals(): void {
  const entries = new Map<string, CachedList>()
  PageCache.prototype.get = (list) => {
    const entry = entries.get(list)
    return entry && { entry, isCurrent: true }
  }
  PageCache.prototype.set = (list, entry) => void entries.set(list, { ...entry, ends: [] })
}

function acceptAnyReplica(): void {
  Replicas.prototype.compare = () => 'same'
  Replicas.prototype.accept = async (_, { tally: { epoch, version, xid } }) => ({ epoch, version, xid })
}
