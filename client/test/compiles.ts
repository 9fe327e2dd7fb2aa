import {
  type Condition,
  filter,
  MemoryCache,
  NotFound,
  type Partner,
  type Product,
  Quartermaster,
  QuartermasterError,
  RequestInvalid,
} from '../src/index.ts'

/**
 * What must compile and what must not; nothing here is run. The compiler itself fails where an expected error does not
 * come. The figure `type_cases` also takes the expectations away and looks for each code at its line, with two
 * compilers and the packed package.
 */

type Same<A, B> = [A, B] extends [B, A] ? true : false
/** Compiles only where both are the same type. */
declare function same<A, B>(...told: Same<A, B> extends true ? [] : [never]): void

type Item<I> = I extends AsyncIterable<infer R> ? R : never

export async function selection(qm: Quartermaster, names: ('id' | 'name')[]) {
  // yes: without fields, a record has all of them
  same<(typeof whole.data)[number], Product>()
  const whole = await qm.products.list()
  // yes: a record has the fields that were asked for
  const some = await qm.products.list({ fields: ['id', 'list_price'] })
  same<(typeof some.data)[number], Pick<Product, 'id' | 'list_price'>>()
  // yes: their types are those of the record
  some.data.map((product): number => product.list_price * 2)
  // @ts-expect-error 2339 a field that was not asked for is not there
  some.data.map((product) => product.name)
  // @ts-expect-error 2322 a field that does not exist
  await qm.products.list({ fields: ['id', 'colour'] })
  // @ts-expect-error 2322 a field of another resource
  await qm.partners.list({ fields: ['list_price'] })
  // yes: names that are known only when it runs make every field optional
  const chosen = await qm.products.list({ fields: names })
  same<(typeof chosen.data)[number], Partial<Pick<Product, 'id' | 'name'>>>()
  // @ts-expect-error 18048 … so it has to be looked whether they are there
  chosen.data.map((product) => product.name.length)
  // yes: a record by its id follows fields, too
  same<Pick<Partner, 'email'>, typeof partner>()
  const partner = await qm.partners.get(1, { fields: ['email'] })
  // @ts-expect-error 2322 null has to be thought of
  const address: string = partner.email
  // yes: a walk gives records of the fields asked for
  const walk = qm.products.all({ fields: ['id'] })
  same<Item<typeof walk>, Pick<Product, 'id'>>()
  // yes: an export gives the same, and its end mark
  const exported = qm.products.export({ fields: ['id'], filter: 'active=true' })
  same<Item<typeof exported>, Pick<Product, 'id'>>()
  // yes: fields that are const elsewhere
  const fields = ['id', 'name'] as const
  same<(typeof constant.data)[number], Pick<Product, 'id' | 'name'>>()
  const constant = await qm.products.list({ fields })
  // @ts-expect-error 2540 what was read is not written back
  for (const product of whole.data) product.name = 'other'
  return address
}

export async function filters(qm: Quartermaster, date: Date, text: string) {
  const { products, partners, companies } = qm
  // yes: text, template, builder
  await products.list({ filter: 'list_price>10' })
  // yes: a template
  await products.list({ filter: filter`name=${text}&id[${[1, 2]}]&write_date>${date}&default_code=${null}` })
  // yes: a function of the fields
  await products.list({ filter: (product) => product.list_price.gt(10).and(product.name.contains('bolt')) })
  // yes: its fields taken apart
  void products.all({ filter: ({ active, id }) => active.eq(true).or(id.in([1, 2n])) })
  // @ts-expect-error 2339 a field that does not exist
  await products.list({ filter: (product) => product.colour.eq('red') })
  // @ts-expect-error 2339 a field of another resource
  await companies.list({ filter: (company) => company.list_price.gt(1) })
  // @ts-expect-error 2339 > on a text
  await products.list({ filter: (product) => product.name.gt('a') })
  // @ts-expect-error 2339 > on a boolean
  await products.list({ filter: (product) => product.active.gt(false) })
  // @ts-expect-error 2339 "contains" on a number
  await products.list({ filter: (product) => product.list_price.contains('1') })
  // @ts-expect-error 2339 "contains" on a timestamp
  await products.list({ filter: (product) => product.write_date.contains('2026') })
  // @ts-expect-error 2345 a text for a number
  await products.list({ filter: (product) => product.list_price.gt('cheap') })
  // yes: a decimal as text, where a number would be rounded
  await products.list({ filter: (product) => product.list_price.eq('0.12345678901234567890') })
  // @ts-expect-error 2345 a number for a text
  await products.list({ filter: (product) => product.name.eq(5) })
  // @ts-expect-error 2345 a text for a boolean
  await products.list({ filter: (product) => product.active.eq('true') })
  // @ts-expect-error 2345 a text for an id
  await products.list({ filter: (product) => product.id.eq('5') })
  // @ts-expect-error 2345 null where there is none
  await products.list({ filter: (product) => product.name.eq(null) })
  // yes: null where there may be one
  await products.list({
    filter: (product) => product.default_code.ne(null).and(product.categ_id.in([1, null])),
  })
  // @ts-expect-error 2345 null has no order
  await products.list({ filter: (product) => product.categ_id.gt(null) })
  // yes: a timestamp by Date or text
  await products.list({
    filter: (product) => product.write_date.gte(date).and(product.create_date.lt('2026-01-01')),
  })
  // @ts-expect-error 2345 a number for a timestamp
  await products.list({ filter: (product) => product.write_date.gte(1_700_000_000) })
  // @ts-expect-error 2345 one value where a list is due
  await products.list({ filter: (product) => product.id.in(5) })
  // @ts-expect-error 2322 a list with one wrong value in it
  await products.list({ filter: (product) => product.id.in([1, 'two']) })
  // @ts-expect-error 2322 a field is no condition yet
  await products.list({ filter: (product) => product.active })
  // yes: a condition to use twice
  const cheap: Condition<Product> = products.where((product) => product.list_price.lt(5))
  await products.list({ filter: cheap.or(products.where(({ id }) => id.eq(1))) })
  // @ts-expect-error 2322 a condition on products is none on partners
  await partners.list({ filter: cheap })
  // @ts-expect-error 2345 and cannot be joined to one
  cheap.and(partners.where((partner) => partner.is_company.eq(true)))
  // yes: a whole filter within a template
  void filter`${cheap}&active=true`
  // @ts-expect-error 2345 undefined is no value
  void filter`name=${undefined}`
  // @ts-expect-error 2353 an object is no value
  void filter`name=${{ name: 'bolt' }}`
  // @ts-expect-error 2322 a number is no filter
  await products.list({ filter: 5 })
}

export async function calls(qm: Quartermaster, signal: AbortSignal, error: unknown) {
  // yes: what a client is made of
  void new Quartermaster({
    baseUrl: 'https://acme.example',
    apiKey: 'k',
    timeoutMs: 1,
    retryForMs: 0,
    cache: new MemoryCache(),
    fetch,
  })
  // @ts-expect-error 2345/2741 without a key there is none
  void new Quartermaster({ baseUrl: 'https://acme.example' })
  // @ts-expect-error 2353 an option that does not exist
  void new Quartermaster({ baseUrl: 'https://acme.example', apiKey: 'k', retries: 5 })
  // yes: a page
  await qm.products.list({ page: 2, limit: 100, signal, timeoutMs: 1_000 })
  // @ts-expect-error 2322 a page by a text
  await qm.products.list({ page: '2' })
  // @ts-expect-error 2353 an order other than by id
  await qm.products.list({ orderBy: 'name' })
  // @ts-expect-error 2353 a walk has no page
  for await (const product of qm.products.all({ page: 2 })) void product
  // @ts-expect-error 2353 an export has no limit
  for await (const product of qm.products.export({ limit: 2 })) void product
  // @ts-expect-error 2345 an id is a number
  await qm.products.get('5')
  // @ts-expect-error 2353 one record has no filter
  await qm.products.get(5, { filter: 'active=true' })
  // yes: a partner is created by its name, and has an id
  const { id }: { id: number } = await qm.partners.create(
    { name: 'Nordwind' },
    { idempotencyKey: 'order-1', signal },
  )
  // @ts-expect-error 2345/2741 without a name there is none
  await qm.partners.create({})
  // @ts-expect-error 2353 and nothing else is taken
  await qm.partners.create({ name: 'Nordwind', email: 'a@example.com' })
  // @ts-expect-error 2339 products are not created
  await qm.products.create({ name: 'Bolt' })
  // yes: errors by their meaning
  if (error instanceof RequestInvalid)
    return [error.offset, error.suggestion, error.faults[0]?.expected] as const
  // @ts-expect-error 2339 what only some errors have
  if (error instanceof NotFound) return error.suggestion
  // yes: what all errors have
  return error instanceof QuartermasterError ? [error.code, error.status, error.requestId, id] : undefined
}
