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
  // Show the message to people, use offset and suggestion in an editor, and handle the code in a program.
  console.log(error.message.split('\n(')[0])
  console.log(error.code, error.offset, error.suggestion)
}

try {
  await qm.partners.get(999_999)
} catch (error) {
  if (!(error instanceof NotFound)) throw error
  console.log('There is no such partner.')
}

// Aborts after ten seconds in all, including retries and the delays between them.
const signal = AbortSignal.timeout(10_000)
try {
  await qm.products.list({ filter: 'name*bolt', signal })
  console.log('In time.')
} catch (error) {
  if (error instanceof QuartermasterError) console.log(`${error.code}, request ${error.requestId}`)
  else if (signal.aborted) console.log('Too late.')
  else throw error
}
