import { Quartermaster } from '@quartermaster/client'

const qm = new Quartermaster({
  baseUrl: process.env['QUARTERMASTER_URL'] ?? '',
  apiKey: process.env['QUARTERMASTER_KEY'] ?? '',
})

const orders = { 'order-4711': 'Nordwind Logistics', 'order-4712': 'Quayside Trading' }

for (const [idempotencyKey, name] of Object.entries(orders)) {
  const { id } = await qm.partners.create({ name }, { idempotencyKey })
  console.log(`${name} is partner ${id}`)
}
