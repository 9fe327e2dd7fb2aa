import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { resources } from '../../../server/src/catalog/resources.ts'

/**
 * A plain server on `node:http` and `pg`, without a framework, caches or batches. It verifies the key of every request, lets
 * PostgreSQL build the JSON, and prepares its statements.
 */

const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  max: Number(process.env['POOL_MAX']),
})
const fieldNames = resources.product.fields.map(({ name }) => name)

async function query(
  name: string,
  sql: string,
  values: unknown[],
): Promise<Record<string, string> | undefined> {
  const { rows } = await pool.query<Record<string, string>>({ name, text: sql, values })
  return rows[0]
}

/** The account of a valid key, by the host of the request. */
async function accountOf({ headers }: IncomingMessage, scope: string): Promise<string | undefined> {
  const hash = createHash('sha256')
    .update(headers.authorization?.slice('Bearer '.length) ?? '')
    .digest()
  const sql = `select k.account_id from account a join api_key k using (account_id)
    where a.name = $1 and a.status = 'active' and k.hash = $2 and $3 = any(k.scopes)
      and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`
  return (await query('key', sql, [headers.host?.split('.')[0], hash, scope]))?.['account_id']
}

async function list(account: string, { searchParams }: URL): Promise<string> {
  const [limit, page] = [Number(searchParams.get('limit') ?? 10), Number(searchParams.get('page') ?? 1)]
  const fields = fieldsOf(searchParams)
  const sql = `select (select count(*) from product where account_id = $1) as total, count(*), coalesce(json_agg(p), '[]')::text as data
    from (select ${fields} from product where account_id = $1 order by id limit $2 offset $3) p`
  const row = await query(`list ${fields}`, sql, [account, limit, (page - 1) * limit])
  return `{"data":${row?.['data']},"meta":{"count":${row?.['count']},"total":${row?.['total']}}}`
}

async function one(account: string, { pathname, searchParams }: URL): Promise<string | undefined> {
  const fields = fieldsOf(searchParams)
  const sql = `select row_to_json(p)::text as data from (select ${fields} from product where account_id = $1 and id = $2) p`
  const row = await query(`one ${fields}`, sql, [account, pathname.slice(pathname.lastIndexOf('/') + 1)])
  return row === undefined ? undefined : `{"data":${row['data']}}`
}

async function create(account: string, request: IncomingMessage): Promise<string> {
  const { name }: { name: string } = JSON.parse(await text(request))
  // One statement, so that the tally and the record are committed together.
  const sql = `with t as (
      update tally set version = version + 1, total = total + 1, last_id = last_id + 1
      where account_id = $1 and resource = 'partner' returning version, last_id
    )
    insert into partner (account_id, id, version, created_version, name, is_company, is_patient, is_customer, is_vendor,
      is_employee, active, create_date, write_date)
    select $1, last_id, version, version, $2, false, false, false, false, false, true, now(), now() from t returning id`
  const row = await query('create', sql, [account, name])
  return JSON.stringify({ data: { id: Number(row?.['id']), name } })
}

/** Only names of fields become part of a statement. */
function fieldsOf(parameters: URLSearchParams): string {
  const names = parameters.get('fields')?.split(',') ?? fieldNames
  return names.filter((name) => fieldNames.includes(name)).join(', ')
}

function send(
  response: ServerResponse,
  status: number,
  body = '',
  headers: Record<string, string> = {},
): void {
  const length = Buffer.byteLength(body)
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': length, ...headers })
  response.end(body)
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost')
  if (url.pathname === '/readyz') return send(response, 200)
  const isCreate = request.method === 'POST'
  const account = await accountOf(request, isCreate ? 'partner:create' : 'product:read')
  if (account === undefined) return send(response, 401, '{"code":"unauthorized"}')
  if (isCreate) return send(response, 201, await create(account, request))
  if (!url.pathname.endsWith('/product')) {
    const body = await one(account, url)
    return send(response, body === undefined ? 404 : 200, body)
  }
  const body = await list(account, url)
  const etag = `"${createHash('sha1').update(body).digest('base64')}"`
  if (request.headers['if-none-match'] !== etag) return send(response, 200, body, { ETag: etag })
  response.writeHead(304, { ETag: etag }).end()
}

const server = createServer((request, response) => {
  handle(request, response).catch((error: unknown) => send(response, 500, JSON.stringify(String(error))))
})
server.listen(Number(process.env['PORT']), '127.0.0.1')
process.once('SIGTERM', () => process.exit())
