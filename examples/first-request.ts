import { Quartermaster } from '@quartermaster/client'

const qm = new Quartermaster({
  baseUrl: process.env['QUARTERMASTER_URL'] ?? '',
  apiKey: process.env['QUARTERMASTER_KEY'] ?? '',
})

const page = await qm.products.list({
  fields: ['id', 'name', 'list_price'],
  filter: (product) => product.list_price.gt(10).and(product.active.eq(true)),
  limit: 3,
})

console.log(`${page.meta.total} products cost more than 10. The first of them:`)
for (const product of page.data) console.log(`${product.id}  ${product.name}  ${product.list_price}`)
