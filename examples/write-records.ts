import { PreconditionFailed, Quartermaster } from '@quartermaster/client'

const qm = new Quartermaster({
  baseUrl: process.env['QUARTERMASTER_URL'] ?? '',
  apiKey: process.env['QUARTERMASTER_KEY'] ?? '',
  decimals: 'string',
})

// Many records by their ids, such as those of your ERP. Run it again, and they are unchanged.
async function* products() {
  for (let id = 900_001; id <= 900_500; id++) yield { id, name: `Hex bolt ${id}`, list_price: '0.35' }
  yield { id: 900_501, name: 'Hex nut', list_price: 'cheap' }
}
const totals = await qm.products.upsert(products(), {
  onRejected: ({ row, field, reason }) => console.log(`rejected ${row.id}: ${field} ${reason}`),
})
console.log(`inserted ${totals.inserted}, rejected ${totals.rejected}`)

// One record, only if no one else has changed it since it was read.
const bolt = await qm.products.get(900_001)
await qm.products.update(bolt.id, { qty_available: '12.5' })
try {
  await qm.products.update(bolt.id, { list_price: '0.40' }, { ifMatch: bolt })
} catch (error) {
  if (!(error instanceof PreconditionFailed)) throw error
  const current = await qm.products.get(bolt.id)
  console.log(`changed by others: there are ${current.qty_available} now`)
}

// Deletes, one by one or many.
await qm.products.delete(bolt.id)
const others = Array.from({ length: 499 }, (_, i) => ({ $delete: 900_002 + i }))
console.log(`deleted ${(await qm.products.upsert(others)).deleted}`)
