import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import {
  type Change,
  Conflict,
  CursorExpired,
  NotFound,
  PreconditionFailed,
  Quartermaster,
} from '@quartermaster/client'

const qm = new Quartermaster({
  baseUrl: process.env['QUARTERMASTER_URL'] ?? '',
  apiKey: process.env['QUARTERMASTER_KEY'] ?? '',
  fields: { partner: { x_number: 'integer' } },
})
const fields = ['name', 'email', 'x_number'] as const
interface Partner {
  readonly name: string
  readonly email: string | null
  readonly x_number: number | null
}

// In this example, the ERP is a SQLite database. `changed` counts the changes of people that Quartermaster has not confirmed, and
// `deleted` has what they deleted. `id` is only there to apply deletes, which the feed sends by id.
const [file = 'erp.db', seconds] = process.argv.slice(2)
const erp = new DatabaseSync(file, { timeout: 10_000 })
erp.exec(`
  pragma journal_mode = wal;
  create table if not exists partner (number integer primary key, name text not null, email text,
    changed integer not null default 1, id integer unique);
  create table if not exists deleted (number integer primary key);
  create table if not exists last (one integer primary key check (one = 1), number integer not null, cursor text);
  insert into partner (number, name)
    select column1, column2 from (values (900001, 'Nordwind Logistics'), (900002, 'Quayside Trading'))
    where not exists (select 1 from last);
  insert or ignore into last values (1, 900002, 'now');
`)
const statements = {
  cursor: erp.prepare('select cursor from last'),
  setCursor: erp.prepare('update last set cursor = ?'),
  nextNumber: erp.prepare(`
    update last set number = max(number, (select ifnull(max(number), 0) from partner)) + 1 returning number`),
  isDeleted: erp.prepare('select 1 from deleted where number = ?'),
  // A partner that got another number in Quartermaster.
  renumber: erp.prepare('update or replace partner set number = ? where id = ? and number <> ?'),
  // What people have changed here is not overwritten.
  store: erp.prepare(`
    insert into partner (number, name, email, changed, id) values (?, ?, ?, 0, ?)
    on conflict (number) do update set id = excluded.id,
      name = iif(changed > 0, name, excluded.name), email = iif(changed > 0, email, excluded.email)
    where id is not excluded.id or changed = 0 and (name <> excluded.name or email is not excluded.email)`),
  remove: erp.prepare('delete from partner where id = ?'),
  forgetIds: erp.prepare('update partner set id = null'),
  sweep: erp.prepare('delete from partner where id is null and changed = 0'),
  changed: erp.prepare(
    'select number, name, email, changed, id from partner where changed > 0 order by number',
  ),
  confirm: erp.prepare('update partner set changed = 0 where number = ? and changed = ?'),
  deleted: erp.prepare('select number from deleted order by number'),
  confirmDelete: erp.prepare('delete from deleted where number = ?'),
}

for (;;) {
  console.log('received', await receive())
  console.log('sent', await send())
  if (seconds === undefined) break
  await setTimeout(Number(seconds) * 1000)
}

/** Applies what was created, changed and deleted in Quartermaster since the stored cursor. Returns the number of changes in the ERP. */
async function receive(): Promise<number> {
  const cursor = statements.cursor.get()?.['cursor']
  const changes = qm.partners.changes({ since: typeof cursor === 'string' ? cursor : undefined, fields })
  let applied = 0
  let hasNumbered = false
  try {
    for (;;) {
      const next = await changes.next()
      if (next.done === true) {
        statements.setCursor.run(next.value)
        if (hasNumbered) return applied + (await receive())
        // Sent and confirmed before, but not in the feed: deleted in Quartermaster.
        return applied + Number(statements.sweep.run().changes)
      }
      hasNumbered = (await giveNumber(next.value)) || hasNumbered
      applied += transaction(() => apply(next.value))
    }
  } catch (error) {
    if (!(error instanceof CursorExpired)) throw error
    // From the beginning: the feed sends every partner with its id, and those that it does not send are swept.
    transaction(() => {
      statements.forgetIds.run()
      statements.setCursor.run(null)
    })
    return await receive()
  }
}

/** A partner that was created in Quartermaster gets the next number of the ERP, and comes with it in the feed. */
async function giveNumber(change: Change<Partner>): Promise<boolean> {
  if (!('record' in change) || change.record.x_number !== null) return false
  for (;;) {
    const next = Number(statements.nextNumber.get()?.['number'])
    try {
      await qm.partners.update(change.id, { x_number: next }, { ifMatch: change.etag })
      return true
    } catch (error) {
      // Changed or deleted meanwhile: the feed will say so.
      if (error instanceof PreconditionFailed || error instanceof NotFound) return false
      // A partner that the feed has not sent yet has this number.
      if (!(error instanceof Conflict)) throw error
    }
  }
}

function apply(change: Change<Partner>): number {
  let applied = 0
  if (!('record' in change)) applied = Number(statements.remove.run(change.id).changes)
  else if (change.record.x_number !== null) {
    const { name, email, x_number } = change.record
    // A partner that was deleted in the ERP does not come back.
    if (statements.isDeleted.get(x_number) === undefined) {
      statements.renumber.run(x_number, change.id, x_number)
      applied = Number(statements.store.run(x_number, name, email, change.id).changes)
    }
  }
  if (change.cursor !== undefined) statements.setCursor.run(change.cursor)
  return applied
}

/** Sends what people have changed and deleted in the ERP. What is rejected is sent again by the next run, until it is corrected. */
async function send() {
  const rejected = new Set<number>()
  const deletes = statements.deleted.all().map(({ number }) => Number(number))
  const changed = statements.changed.all().map(({ number, name, email, changed: times, id }) => ({
    row: { x_number: Number(number), name: String(name), email: email === null ? null : String(email) },
    times: Number(times),
    isNew: id === null,
  }))
  const onRejected = (number: number, field: string, reason: string) => {
    rejected.add(number)
    console.error(`partner ${number}: ${field} ${reason}`)
  }
  const gone = await qm.partners.upsert(
    deletes.map((x_number) => ({ $delete: { x_number } })),
    {
      key: 'x_number',
      onRejected: ({ row, field, reason }) => onRejected(row.$delete.x_number, field, reason),
    },
  )
  // A partner that was read in Quartermaster is not created again if it was deleted there.
  const sendRows = (isNew: boolean) =>
    qm.partners.upsert(
      changed.filter((partner) => partner.isNew === isNew).map(({ row }) => row),
      {
        key: 'x_number',
        mode: isNew ? 'upsert' : 'update',
        onRejected: ({ row, field, reason }) => onRejected(row.x_number, field, reason),
      },
    )
  const [created, updated] = [await sendRows(true), await sendRows(false)]
  transaction(() => {
    for (const number of deletes) if (!rejected.has(number)) statements.confirmDelete.run(number)
    for (const { row, times } of changed)
      if (!rejected.has(row.x_number)) statements.confirm.run(row.x_number, times)
  })
  return {
    inserted: created.inserted,
    updated: created.updated + updated.updated,
    unchanged: created.unchanged + updated.unchanged + gone.unchanged,
    deleted: gone.deleted,
    rejected: rejected.size,
  }
}

/** People and this program change the ERP at the same time, so each transaction begins with the lock for writes. */
function transaction<T>(work: () => T): T {
  erp.exec('begin immediate')
  try {
    const result = work()
    erp.exec('commit')
    return result
  } catch (error) {
    erp.exec('rollback')
    throw error
  }
}
