import { KeyVerifier } from '../../../server/src/accounts/key-verifier.ts'
import { readConfig } from '../../../server/src/config.ts'
import { PageCache } from '../../../server/src/lists/page-cache.ts'
import { logTo } from '../../../server/src/observability/logger.ts'
import { startService } from '../../../server/src/service.ts'

/**
 * The service, broken on purpose, so that it can be seen that the checker finds it. It has the port told to its
 * parent, and ends with it.
 *
 *     stale   a check counts for 250 ms: the tally was read before the request arrived
 *     torn    a total counts for ever: it is put beside a page of another version
 */
const [, , breakage] = process.argv
if (breakage === 'stale') reuseChecks(250)
else if (breakage === 'torn') reuseTotals()
else throw new Error(`there is no breakage ${breakage}`)

const config = readConfig(process.env)
const service = await startService(config, {
  databaseUrl: config.DATABASE_URL ?? '',
  host: '127.0.0.1',
  port: 0,
  log: logTo(config.LOG_LEVEL),
})
process.send?.(service.port)
process.once('disconnect', () => process.exit())

function reuseChecks(forMs: number): void {
  type Made = ReturnType<KeyVerifier['verify']>
  // oxlint-disable-next-line typescript/unbound-method -- it is bound where it is called
  const honest = KeyVerifier.prototype.verify
  const made = new Map<string, { readonly at: number; readonly check: Made }>()
  KeyVerifier.prototype.verify = function (this: KeyVerifier, ...question): Made {
    const place = JSON.stringify(question)
    const last = made.get(place)
    if (last !== undefined && performance.now() - last.at < forMs) return last.check
    const check = honest.apply(this, question)
    made.set(place, { at: performance.now(), check })
    return check
  }
}

function reuseTotals(): void {
  const totals = new Map<string, number>()
  PageCache.prototype.get = (list) => {
    const total = totals.get(list)
    return total === undefined ? {} : { total }
  }
  PageCache.prototype.set = (list, _state, { total }) => void totals.set(list, total)
}
