import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { Quartermaster } from '@quartermaster/client'

/** A partner of the ERP. `ref`: its id in Quartermaster, if it was created there. */
interface ErpPartner {
  readonly id: number
  readonly ref?: number
  name: string
  email: string | null
  /** Changed in the ERP since the last run. */
  changed: boolean
}

interface Erp {
  partners: ErpPartner[]
  nextId: number
  cursor: string
}

const qm = new Quartermaster({
  baseUrl: process.env['QUARTERMASTER_URL'] ?? '',
  apiKey: process.env['QUARTERMASTER_KEY'] ?? '',
})

// In this example, the ERP is a file.
const file = process.argv[2] ?? 'erp.json'
const erp: Erp = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : newErp()

// First receive what was created, changed and deleted in Quartermaster …
const byId = new Map(erp.partners.map((partner) => [partner.ref ?? partner.id, partner]))
const received = { created: 0, changed: 0, deleted: 0 }
const changes = qm.partners.changes({ since: erp.cursor })
for (;;) {
  const next = await changes.next()
  if (next.done === true) {
    erp.cursor = next.value
    break
  }
  const change = next.value
  const partner = byId.get(change.id)
  if (!('record' in change)) {
    if (byId.delete(change.id)) received.deleted += 1
  } else if (partner === undefined) {
    const { name, email } = change.record
    byId.set(change.id, { id: erp.nextId++, ref: change.id, name, email, changed: false })
    received.created += 1
  } else if (
    !partner.changed &&
    (partner.name !== change.record.name || partner.email !== change.record.email)
  ) {
    partner.name = change.record.name
    partner.email = change.record.email
    received.changed += 1
  }
}
erp.partners = [...byId.values()]

// … then send what was changed in the ERP. A row that was written before, is unchanged when it is sent again.
const rows = erp.partners
  .filter(({ changed }) => changed)
  .map(({ id, ref, name, email }) => ({ id: ref ?? id, name, email }))
const sent = await qm.partners.upsert(rows, {
  onRejected: ({ row, field, reason }) => console.error(`partner ${row.id}: ${field} ${reason}`),
})
for (const partner of erp.partners) partner.changed = false

writeFileSync(file, JSON.stringify(erp, null, 2))
console.log('received', received)
console.log('sent', { inserted: sent.inserted, updated: sent.updated, unchanged: sent.unchanged })

function newErp(): Erp {
  const partners = ['Nordwind Logistics', 'Quayside Trading'].map((name, i) => {
    return { id: 900_001 + i, name, email: null, changed: true }
  })
  return { partners, nextId: 900_003, cursor: 'now' }
}
