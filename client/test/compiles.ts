import {
  type Company,
  type Condition,
  filter,
  MemoryCache,
  NotFound,
  type Partner,
  type Product,
  Quartermaster,
  QuartermasterError,
  RequestInvalid,
  type Usage,
  verifyWebhook,
} from '../src/index.ts'

/**
 * Calls that must compile and calls that must not; nothing here is run. The compiler reports an expected error that does
 * not occur. The verification suite `type_cases` also removes the expectations and compares the error codes and lines,
 * with two compilers and the packed package.
 */

type Same<A, B> = [A, B] extends [B, A] ? true : false
/** Compiles only if both are the same type. */
declare function same<A, B>(...proof: Same<A, B> extends true ? [] : [never]): void

type Item<I> = I extends AsyncIterable<infer R> ? R : never

export async function selection(qm: Quartermaster, names: ('id' | 'name')[]) {
  // yes: without fields, a record has all of them
  same<(typeof complete.data)[number], Product>()
  const complete = await qm.products.list()
  // yes: a record has the requested fields
  const selected = await qm.products.list({ fields: ['id', 'list_price'] })
  same<(typeof selected.data)[number], Pick<Product, 'id' | 'list_price'>>()
  // yes: their types are those of the record
  selected.data.map((product): number => product.list_price * 2)
  // @ts-expect-error 2339 a field that was not requested does not exist
  selected.data.map((product) => product.name)
  await qm.products.list({ sort: '-list_price', search: 'hex bolt' })
  // @ts-expect-error 2820 an order by a field that does not exist
  await qm.products.list({ sort: 'list_prise' })
  // @ts-expect-error 2322 a field that does not exist
  await qm.products.list({ fields: ['id', 'colour'] })
  // @ts-expect-error 2322 a field of another resource
  await qm.partners.list({ fields: ['list_price'] })
  // yes: names that are known only at run time make every field optional
  const chosen = await qm.products.list({ fields: names })
  same<(typeof chosen.data)[number], Partial<Pick<Product, 'id' | 'name'>>>()
  // @ts-expect-error 18048 … so the caller must check for undefined
  chosen.data.map((product) => product.name.length)
  // yes: a record by its id follows fields, too
  same<Pick<Partner, 'email'>, typeof partner>()
  const partner = await qm.partners.get(1, { fields: ['email'] })
  // @ts-expect-error 2322 null must be handled
  const address: string = partner.email
  // yes: all() yields records with the requested fields
  const records = qm.products.all({ fields: ['id'] })
  same<Item<typeof records>, Pick<Product, 'id'>>()
  // yes: so does an export
  const exported = qm.products.export({ fields: ['id'], filter: 'active=true' })
  same<Item<typeof exported>, Pick<Product, 'id'>>()
  // yes: so does the record of a change
  const changes = qm.products.changes({ fields: ['id', 'name'], since: 'now', wait: 5 })
  for await (const change of changes)
    if ('record' in change) same<typeof change.record, Pick<Product, 'id' | 'name'>>()
  for await (const change of qm.products.watch()) {
    // @ts-expect-error 2339 a deleted record is not sent
    if (change.change === 'deleted') change.record.valueOf()
  }
  // yes: and a batch of a copy, which continues by its state
  for await (const { state } of qm.partners.sync({ since: (await qm.partners.sync().next()).value.state }))
    same<typeof state.walk, string>()
  // @ts-expect-error 2322 a state is not only its mark
  void qm.partners.sync({ since: { walk: 'a' } })
  // yes: its records have the requested fields
  for await (const { upserted } of qm.partners.sync()) same<(typeof upserted)[number], Partner>()
  // yes: fields declared as const elsewhere
  const fields = ['id', 'name'] as const
  same<(typeof constant.data)[number], Pick<Product, 'id' | 'name'>>()
  const constant = await qm.products.list({ fields })
  // @ts-expect-error 2540 records are read-only
  for (const product of complete.data) product.name = 'other'
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
  // yes: its fields destructured
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
  // yes: a decimal as a string, because a number would be rounded
  await products.list({ filter: (product) => product.list_price.eq('0.12345678901234567890') })
  // @ts-expect-error 2345 a number for a text
  await products.list({ filter: (product) => product.name.eq(5) })
  // @ts-expect-error 2345 a text for a boolean
  await products.list({ filter: (product) => product.active.eq('true') })
  // @ts-expect-error 2345 a text for an id
  await products.list({ filter: (product) => product.id.eq('5') })
  // @ts-expect-error 2345 null for a field that is not nullable
  await products.list({ filter: (product) => product.name.eq(null) })
  // yes: null for a nullable field
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
  // @ts-expect-error 2345 one value instead of a list
  await products.list({ filter: (product) => product.id.in(5) })
  // @ts-expect-error 2322 a list with a value of the wrong type
  await products.list({ filter: (product) => product.id.in([1, 'two']) })
  // @ts-expect-error 2322 a field is not a condition
  await products.list({ filter: (product) => product.active })
  // yes: a condition to use twice
  const cheap: Condition<Product> = products.where((product) => product.list_price.lt(5))
  await products.list({ filter: cheap.or(products.where(({ id }) => id.eq(1))) })
  // @ts-expect-error 2322 a condition on products is not one on partners
  await partners.list({ filter: cheap })
  // @ts-expect-error 2345 and cannot be combined with one
  cheap.and(partners.where((partner) => partner.is_company.eq(true)))
  // yes: a filter inserted into a template
  void filter`${cheap}&active=true`
  // @ts-expect-error 2345 undefined is not a value
  void filter`name=${undefined}`
  // @ts-expect-error 2353 an object is not a value
  void filter`name=${{ name: 'bolt' }}`
  // @ts-expect-error 2322 a number is not a filter
  await products.list({ filter: 5 })
}

export async function calls(qm: Quartermaster, signal: AbortSignal, error: unknown) {
  // yes: all options of a client
  void new Quartermaster({
    baseUrl: 'https://acme.example',
    apiKey: 'k',
    timeoutMs: 1,
    retryForMs: 0,
    cache: new MemoryCache(),
    fetch,
  })
  // @ts-expect-error 2345/2741 apiKey is required
  void new Quartermaster({ baseUrl: 'https://acme.example' })
  // @ts-expect-error 2353 an option that does not exist
  void new Quartermaster({ baseUrl: 'https://acme.example', apiKey: 'k', retries: 5 })
  // yes: a page
  await qm.products.list({ page: 2, limit: 100, signal, timeoutMs: 1_000 })
  // @ts-expect-error 2322 a page number as a string
  await qm.products.list({ page: '2' })
  // @ts-expect-error 2353 an order other than by id
  await qm.products.list({ orderBy: 'name' })
  // @ts-expect-error 2353 all() has no page
  for await (const product of qm.products.all({ page: 2 })) void product
  // @ts-expect-error 2353 an export has no limit
  for await (const product of qm.products.export({ limit: 2 })) void product
  // @ts-expect-error 2345 an id is a number
  await qm.products.get('5')
  // @ts-expect-error 2353 one record has no filter
  await qm.products.get(5, { filter: 'active=true' })
  // yes: errors by class
  if (error instanceof RequestInvalid)
    return [error.offset, error.suggestion, error.faults[0]?.expected] as const
  // @ts-expect-error 2339 a member that only RequestInvalid has
  if (error instanceof NotFound) return error.suggestion
  // yes: members of every error
  return error instanceof QuartermasterError ? [error.code, error.status, error.requestId] : undefined
}

export async function writes(qm: Quartermaster, signal: AbortSignal) {
  // yes: a partner is created by its name, and has an id
  const { id }: { id: number } = await qm.partners.create(
    { name: 'Nordwind' },
    { idempotencyKey: 'order-1', signal },
  )
  // @ts-expect-error 2345/2741 a name is required
  await qm.partners.create({})
  // yes: with any other field that a client can set
  await qm.partners.create({ name: 'Nordwind', email: 'a@example.com', is_vendor: true })
  // @ts-expect-error 2353 but no field that the service assigns
  await qm.partners.create({ name: 'Nordwind', write_date: '2026-01-01' })
  // yes: products, too, with decimals as numbers or as strings
  await qm.products.create({ name: 'Bolt', list_price: '0.10', qty_available: 5 })
  // @ts-expect-error 2345/2741 a company needs its branch_user
  await qm.companies.create({ name: 'Quayside' })
  // yes: a change has any of these fields, and returns the complete record
  const changed: Product = await qm.products.update(5, { list_price: 2, default_code: null })
  // yes: on condition that no one else has changed it
  await qm.products.update(5, { name: 'Bolt' }, { ifMatch: changed, idempotencyKey: 'x' })
  // @ts-expect-error 2322 null for a field that is not nullable
  await qm.products.update(5, { name: null })
  // @ts-expect-error 2353 a field that the service assigns
  await qm.products.update(5, { write_date: '2026-01-01' })
  // yes: rows to insert or change, and rows to delete
  await qm.products.upsert([{ id: 5, name: 'Bolt', write_date: '2026-01-01' }, { $delete: 6 }])
  // @ts-expect-error 2345 a row needs an id
  await qm.products.upsert([{ name: 'Bolt' }])
  // yes: decimals as strings
  const exact = new Quartermaster({ baseUrl: '', apiKey: '', decimals: 'string' })
  const price: string = (await exact.products.get(5)).list_price
  const { data } = await exact.products.list({ fields: ['list_price', 'categ_id'] })
  const categories: (number | null)[] = data.map((product) => product.categ_id)
  // @ts-expect-error 2322 which are not numbers then
  const wrong: number = (await exact.products.get(5)).qty_available
  return [id, price, categories, wrong] as const
}

export async function administration({ manage }: Quartermaster, request: Request) {
  // yes: a key with scopes, and what is known only once
  const { key }: { key: string } = await manage.keys.create({ name: 'shop', scopes: ['product:read'] })
  // @ts-expect-error 2820 a scope that does not exist
  await manage.keys.create({ name: 'shop', scopes: ['product:reed'] })
  // @ts-expect-error 2345/2741 a rotation needs its overlap
  await manage.keys.rotate('a', {})
  // yes: filters and fields as in other lists
  const { data } = await manage.usage.list({
    fields: ['route', 'requests'],
    per: 'minute',
    filter: ({ at }) => at.gt('2026-01-01'),
  })
  same<(typeof data)[number], Pick<Usage, 'route' | 'requests'>>()
  // @ts-expect-error 2339 > on a text
  await manage.requests.list({ filter: ({ path }) => path.gt('a') })
  // @ts-expect-error 2322 a resource that has no webhooks
  await manage.webhooks.create({ resource: 'order', url: 'https://example.com' })
  // yes: an event has the data of its type
  const event = await verifyWebhook(request.headers, await request.arrayBuffer(), ['whsec_'], {
    decimals: 'string',
  })
  if (event.type === 'product.changed')
    for (const change of event.data.changes)
      if ('record' in change) same<typeof change.record.list_price, string | undefined>()
  // @ts-expect-error 2339 only a challenge has one
  void event.data.challenge
  // @ts-expect-error 2367 a type that does not exist
  return event.type === 'order.changed' ? key : undefined
}

export async function ownFields() {
  const fields = {
    product: { x_sku: 'text', x_weight: 'decimal', x_stocked: 'timestamp' },
    partner: { x_number: 'integer', x_blocked: 'boolean' },
  } as const
  const qm = new Quartermaster({ baseUrl: '', apiKey: '', fields })
  // yes: fields that the account has declared are fields of its records, and can be null
  const sku: string | null = (await qm.products.get(5)).x_sku
  // yes: they can be selected, filtered by, created and changed
  const { data } = await qm.partners.list({
    fields: ['x_number'],
    filter: ({ x_blocked }) => x_blocked.eq(null),
  })
  same<(typeof data)[number], { readonly x_number: number | null }>()
  await qm.products.create({ name: 'Bolt', x_weight: '0.25', x_sku: null })
  await qm.products.update(5, { x_stocked: '2026-01-01T00:00:00Z' })
  // yes: records by the value of a unique field
  await qm.products.put({ x_sku: '4711' }, { name: 'Bolt' })
  await qm.partners.get({ x_number: 7 })
  await qm.products.upsert([{ x_sku: '4711', name: 'Bolt' }, { $delete: { x_sku: '4712' } }], {
    key: 'x_sku',
  })
  // @ts-expect-error 2353 a field of another resource
  await qm.partners.create({ name: 'Nordwind', x_sku: '4711' })
  // @ts-expect-error 2322 a value of another type
  await qm.products.create({ name: 'Bolt', x_sku: 4711 })
  // @ts-expect-error 2353 a decimal identifies no record
  await qm.products.get({ x_weight: 1 })
  // @ts-expect-error 2769 nor does a field that was not declared
  await qm.products.upsert([{ x_sku: '4711', name: 'Bolt' }], { key: 'x_colour' })
  // yes: companies have none, and are addressed by a field that every account can make unique
  same<Company, typeof company>()
  const company = await qm.companies.get({ company_code: 'NW' })
  // yes: decimals as strings
  const exact = new Quartermaster({ baseUrl: '', apiKey: '', fields, decimals: 'string' })
  const weight: string | null = (await exact.products.get(5)).x_weight
  // @ts-expect-error 2322 which are not numbers then
  const wrong: number | null = (await exact.products.get(5)).x_weight
  return [sku, weight, wrong] as const
}

export async function summaries(qm: Quartermaster, names: ('active' | 'categ_id')[]) {
  // yes: the fields decide the type of a group
  const { data } = await qm.products.summary({
    group: ['categ_id', 'create_date:month'],
    sum: ['qty_available'],
    max: ['write_date'],
    avg: ['list_price'],
  })
  data.map(({ group }): [number | null, string] => [group.categ_id, group.create_date])
  data.map(({ sum, max, avg }): [number, string | null, number | null] => [
    sum.qty_available,
    max.write_date,
    avg.list_price,
  ])
  // @ts-expect-error 2339 what was not requested does not exist
  data.map(({ min }) => min)
  // @ts-expect-error 2339 a field that was not requested does not exist
  data.map(({ sum }) => sum.list_price)
  // @ts-expect-error 2322 an average can be null
  data.map(({ avg }): number => avg.list_price)
  // @ts-expect-error 2322 a text has no sum
  await qm.products.summary({ sum: ['name'] })
  // @ts-expect-error 2322 a timestamp needs a unit
  await qm.products.summary({ group: ['create_date'] })
  // @ts-expect-error 2322 a field of another resource
  await qm.partners.summary({ group: ['categ_id'] })
  // yes: names that are known only at run time make every field optional
  const chosen = await qm.products.summary({ group: names })
  chosen.data.map(({ group }): (number | boolean | null | undefined)[] => [group.active, group.categ_id])
  // yes: without parameters, the number of all records
  const [all] = (await qm.partners.summary()).data
  all?.count.toFixed()
}
