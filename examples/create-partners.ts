import { IdempotencyConflict, Quartermaster } from '@quartermaster/client'

const qm = new Quartermaster({
  baseUrl: process.env['QUARTERMASTER_URL'] ?? '',
  apiKey: process.env['QUARTERMASTER_KEY'] ?? '',
})

const orders = [
  { number: 'order-4711', customer: 'Nordwind Logistics' },
  { number: 'order-4712', customer: 'Quayside Trading' },
]

for (const order of orders) {
  try {
    const { id } = await qm.partners.create({ name: order.customer }, { idempotencyKey: order.number })
    console.log(`${order.customer} is partner ${id}`)
  } catch (error) {
    if (!(error instanceof IdempotencyConflict)) throw error
    console.error(`${order.number} was sent before, with another name: ${error.message}`)
  }
}
