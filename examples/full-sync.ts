import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { Quartermaster } from '@quartermaster/client'

const qm = new Quartermaster({
  baseUrl: process.env['QUARTERMASTER_URL'] ?? '',
  apiKey: process.env['QUARTERMASTER_KEY'] ?? '',
})
const file = process.argv[2] ?? 'companies.json'

// The version names the state of all companies, so one small page tells whether anything has changed.
const { version } = await qm.companies.list({ fields: ['id'], limit: 1 })
if (version !== undefined && version === read().version) {
  console.log('Nothing has changed.')
} else {
  const companies: object[] = []
  for await (const company of qm.companies.all()) companies.push(company)
  // Asked for before the walk: should somebody write meanwhile, the next run finds another version and walks again.
  writeFileSync(`${file}.new`, JSON.stringify({ version, companies }))
  renameSync(`${file}.new`, file)
  console.log(`${companies.length} companies copied.`)
}

function read(): { version?: string } {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return {}
  }
}
