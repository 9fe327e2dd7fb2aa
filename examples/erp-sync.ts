import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { Quartermaster, type RejectedRow } from '@quartermaster/client'

/** A partner of the ERP. `ref`: its id in Quartermaster, if it was created there. */
export interface ErpPartner {
  readonly id: number
  readonly ref?: number
  name: string
  email: string | null
  /** Changed in the ERP, and not yet accepted by Quartermaster. */
  changed: boolean
}

export interface Erp {
  partners: ErpPartner[]
  /** The Quartermaster ids of partners that were deleted in the ERP, until Quartermaster has deleted them, too. */
  deleted: number[]
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
const deleted = new Set(erp.deleted)
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
    // A partner that was deleted in the ERP does not come back.
    if (deleted.has(change.id)) continue
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
save()

// … then send what was changed and deleted in the ERP. A row that was written before is unchanged when it is sent again.
const changed = erp.partners.filter((partner) => partner.changed)
const rejected = new Set<number>()
const onRejected = ({ row, field, reason }: RejectedRow<{ id: number } | { $delete: number }>) => {
  const id = '$delete' in row ? row.$delete : row.id
  rejected.add(id)
  console.error(`partner ${id}: ${field} ${reason}`)
}
const own = await qm.partners.upsert(
  changed.filter(({ ref }) => ref === undefined).map(({ id, name, email }) => ({ id, name, email })),
  { onRejected },
)
// These ids were read in Quartermaster: mode=update never creates a partner.
const read = await qm.partners.upsert(
  [
    ...changed.flatMap(({ ref, name, email }) => (ref === undefined ? [] : [{ id: ref, name, email }])),
    ...erp.deleted.map((id) => ({ $delete: id })),
  ],
  { mode: 'update', onRejected },
)
// What was rejected is sent again by the next run, until it is corrected.
for (const [id, partner] of byId) partner.changed &&= rejected.has(id)
erp.deleted = erp.deleted.filter((id) => rejected.has(id))
save()

console.log('received', received)
console.log('sent', {
  inserted: own.inserted,
  updated: own.updated + read.updated,
  unchanged: own.unchanged + read.unchanged,
  deleted: read.deleted,
  rejected: rejected.size,
})

/** Replaces the file in one step, so that it is complete whenever the program is killed. */
function save(): void {
  writeFileSync(`${file}.new`, JSON.stringify(erp, null, 2))
  renameSync(`${file}.new`, file)
}

function newErp(): Erp {
  const partners = ['Nordwind Logistics', 'Quayside Trading'].map((name, i) => {
    return { id: 900_001 + i, name, email: null, changed: true }
  })
  return { partners, deleted: [], nextId: 900_003, cursor: 'now' }
}
