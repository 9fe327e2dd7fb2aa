import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { Quartermaster } from '@quartermaster/client'

const qm = new Quartermaster({
  baseUrl: process.env['QUARTERMASTER_URL'] ?? '',
  apiKey: process.env['QUARTERMASTER_KEY'] ?? '',
})
const file = process.argv[2] ?? 'companies.json'

// The version identifies the state of all companies, so one small page is enough to detect a change.
const { version } = await qm.companies.list({ fields: ['id'], limit: 1 })
if (version !== undefined && version === read().version) {
  console.log('Nothing has changed.')
} else {
  const companies: object[] = []
  for await (const company of qm.companies.all()) companies.push(company)
  // Store the version from before the first page: if a company was written meanwhile, the next run sees a newer
  // version and reads everything again.
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
