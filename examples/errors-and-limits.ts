import { NotFound, Quartermaster, QuartermasterError, RequestInvalid } from '@quartermaster/client'

const qm = new Quartermaster({
  baseUrl: process.env['QUARTERMASTER_URL'] ?? '',
  apiKey: process.env['QUARTERMASTER_KEY'] ?? '',
  timeoutMs: 10_000,
  retryForMs: 120_000,
})

try {
  await qm.products.list({ filter: 'active=true&list_prise>10' })
} catch (error) {
  if (!(error instanceof RequestInvalid)) throw error
  // The first lines are for people; offset and suggestion for an editor; the code for a program.
  console.log(error.message.split('\n(')[0])
  console.log(error.code, error.offset, error.suggestion)
}

try {
  await qm.partners.get(999_999)
} catch (error) {
  if (!(error instanceof NotFound)) throw error
  console.log('There is no such partner.')
}

// Gives up after ten seconds, retries and their waiting included.
const giveUp = AbortSignal.timeout(10_000)
try {
  await qm.products.list({ filter: 'name*bolt', signal: giveUp })
  console.log('In time.')
} catch (error) {
  if (error instanceof QuartermasterError) console.log(`${error.code}, request ${error.requestId}`)
  else if (giveUp.aborted) console.log('Too late.')
  else throw error
}
