import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { fieldNames } from '../ratios/fixture.ts'
import { partnerPath, productPath } from '../ratios/workloads.ts'
import { peersFolder } from './peers-folder.ts'

/**
 * Platformatic DB with routes for the URLs of the service. The generated routes do not fit: their `:id` is only the first
 * column of a primary key. As they do, the handlers call `find` and then `count` of the entity.
 */

interface Entity {
  find(options: object): Promise<Record<string, unknown>[]>
  count(options: object): Promise<number>
  insert(options: object): Promise<Record<string, unknown>[]>
}

type Sql = (strings: TemplateStringsArray, ...values: unknown[]) => object

interface Database {
  query(query: object): Promise<Record<string, string>[]>
  tx<T>(run: (transaction: Database) => Promise<T>): Promise<T>
}

interface Platformatic {
  readonly entities: { readonly product: Entity; readonly partner: Entity }
  readonly db: Database
  readonly sql: Sql
}

/** Of its package, as far as it is used here. */
interface Package {
  create(
    root: string,
    config: object,
    context: { readonly fastifyPlugins: readonly ((app: PeerApp) => Promise<void>)[] },
  ): Promise<{ start(options: { readonly listen: boolean }): Promise<string> }>
}

type PeerApp = FastifyInstance & { readonly platformatic: Platformatic }

interface Query {
  readonly fields?: string
  readonly limit?: string
  readonly page?: string
}

const camelCase = new Map(
  fieldNames.map((name) => [name, name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())]),
)

function fieldsOf({ fields }: Query): (string | undefined)[] {
  return (fields?.split(',') ?? fieldNames).map((name) => camelCase.get(name))
}

async function accountOf({ db, sql }: Platformatic, { headers }: FastifyRequest, scope: string) {
  const hash = createHash('sha256')
    .update(headers.authorization?.slice('Bearer '.length) ?? '')
    .digest()
  const rows = await db.query(sql`select k.account_id from account a join api_key k using (account_id)
    where a.name = ${headers.host?.split('.')[0]} and a.status = 'active' and k.hash = ${hash} and ${scope} = any(k.scopes)
      and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`)
  return rows[0]?.['account_id']
}

async function routes(app: PeerApp): Promise<void> {
  const { platformatic } = app
  const { db, sql } = platformatic
  const { product, partner } = platformatic.entities

  app.get('/readyz', async () => 'ok')

  app.get<{ Querystring: Query }>(productPath, async (request, reply) => {
    const account = await accountOf(platformatic, request, 'product:read')
    if (account === undefined) return reply.code(401).send()
    const limit = Number(request.query.limit ?? 10)
    const where = { accountId: { eq: account } }
    const data = await product.find({
      where,
      fields: fieldsOf(request.query),
      orderBy: [{ field: 'id', direction: 'asc' }],
      limit,
      offset: (Number(request.query.page ?? 1) - 1) * limit,
    })
    const total = await product.count({ where })
    const body = JSON.stringify({ data, meta: { count: data.length, total } })
    const etag = `"${createHash('sha1').update(body).digest('base64')}"`
    reply.header('ETag', etag)
    if (request.headers['if-none-match'] === etag) return reply.code(304).send()
    return reply.type('application/json').send(body)
  })

  app.get<{ Querystring: Query; Params: { id: string } }>(`${productPath}/:id`, async (request, reply) => {
    const account = await accountOf(platformatic, request, 'product:read')
    if (account === undefined) return reply.code(401).send()
    const [data] = await product.find({
      where: { accountId: { eq: account }, id: { eq: request.params.id } },
      fields: fieldsOf(request.query),
    })
    return data === undefined ? reply.code(404).send() : { data }
  })

  app.post<{ Body: { name: string } }>(partnerPath, async (request, reply) => {
    const account = await accountOf(platformatic, request, 'partner:create')
    if (account === undefined) return reply.code(401).send()
    const data = await db.tx(async (tx) => {
      const [tally] =
        await tx.query(sql`update tally set version = version + 1, total = total + 1, last_id = last_id + 1
        where account_id = ${account} and resource = 'partner' returning version, last_id`)
      const now = new Date()
      const record = {
        accountId: account,
        id: tally?.['last_id'],
        version: tally?.['version'],
        createdVersion: tally?.['version'],
        name: request.body.name,
        isCompany: false,
        isPatient: false,
        isCustomer: false,
        isVendor: false,
        isEmployee: false,
        active: true,
        createDate: now,
        writeDate: now,
      }
      const [inserted] = await partner.insert({ tx, inputs: [record], fields: ['id', 'name'] })
      return inserted
    })
    return reply.code(201).send({ data })
  })
}

const platformatic: Package = await import(
  pathToFileURL(createRequire(peersFolder).resolve('@platformatic/db')).href
)
const server = await platformatic.create(
  import.meta.dirname,
  {
    server: { hostname: '127.0.0.1', port: Number(process.env['PORT']), logger: { level: 'error' } },
    db: {
      connectionString: process.env['DATABASE_URL'],
      poolSize: Number(process.env['POOL_MAX']),
      include: { product: true, partner: true },
      openapi: false,
      graphql: false,
      events: false,
    },
  },
  { fastifyPlugins: [routes] },
)
await server.start({ listen: true })
process.once('SIGTERM', () => process.exit())
