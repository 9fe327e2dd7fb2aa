import { setStatus } from '../../accounts/account-changes.ts'
import {
  type Account,
  accountJson,
  detailsJson,
  listAccounts,
  showAccount,
} from '../../accounts/directory.ts'
import { scopes } from '../../accounts/key-format.ts'
import { appliedJson, applyAccount } from '../../accounts/lifecycle/apply.ts'
import { describedAccount, limitMembers } from '../../accounts/lifecycle/description.ts'
import { Faults } from '../../errors/faults.ts'
import { limits } from '../../limits/limits.ts'
import { type BodyShape, jsonBody, rejectBody } from '../request/body.ts'
import { sendUncached } from '../respond.ts'
import { base, type OperatorRoute } from './operator-route.ts'
import { integerIn } from './query.ts'

/** Routes that read, describe, suspend and activate accounts. */

const accounts = `${base}/accounts`
const account = `${accounts}/{name}`
const keyMembers = {
  name: { type: 'string', minLength: 1, maxLength: limits.keyNameCharactersMax },
  scopes: { type: 'array', minItems: 1, items: { type: 'string', enum: scopes } },
  expires_at: { type: ['string', 'null'], format: 'date-time' },
}

export const keySchema = {
  type: 'object',
  required: ['name', 'scopes'],
  properties: keyMembers,
  additionalProperties: false,
}

const descriptionShape: BodyShape = {
  name: 'AccountDescription',
  title: 'The state that an account should have',
  members: {
    status: { type: 'string', enum: ['active', 'suspended'] },
    ids: {
      type: 'string',
      enum: ['unassigned', 'service', 'external'],
      description: 'Who assigns ids. Only for a new account.',
    },
    ...Object.fromEntries(
      Object.entries(limitMembers).map(([member, { min, max }]) => [
        member,
        { type: ['integer', 'null'], minimum: min, maximum: max, description: 'null: the default.' },
      ]),
    ),
    cors_origins: { type: 'array', maxItems: limits.corsOriginsMax, items: { type: 'string' } },
    keys: { type: 'array', maxItems: limits.keysValidMax, items: keySchema },
  },
  what: 'An account is described by status, ids, limits, cors_origins and keys',
  example: '{"requests_per_minute":60000,"keys":[{"name":"web shop","scopes":["product:read"]}]}',
}

const exampleAccount = {
  account_id: 7,
  name: 'globex',
  status: 'active',
  created_at: '2026-11-14T09:30:00.000Z',
  requests_per_minute: null,
  key_requests_per_minute: null,
  records_max: limits.recordsMax,
  idempotency_results_max: limits.idempotencyResultsMax,
  audit_rows_max: limits.auditRowsMax,
}

const listAccountsRoute: OperatorRoute = {
  method: 'GET',
  path: accounts,
  scope: 'read',
  operationId: 'list_accounts',
  summary: 'List accounts',
  description: 'In order of their names. `next_after` is the value of `after` for the next page, or null.',
  query: {
    after: { description: 'Only accounts after this name.', schema: { type: 'string' } },
    limit: {
      description: 'Accounts of a page.',
      schema: {
        type: 'integer',
        minimum: 1,
        maximum: limits.pageRecordsMax,
        default: limits.commandRowsDefault,
      },
    },
  },
  success: { status: 200, description: 'A page.', example: { data: [exampleAccount], next_after: null } },
  errors: [],
  handler:
    ({ connections }) =>
    async ({ reply, query }) => {
      const limit = integerIn(query, 'limit', {
        min: 1,
        max: limits.pageRecordsMax,
        standard: limits.commandRowsDefault,
      })
      const found = await connections.run((connection) =>
        listAccounts(connection, { after: query.get('after') ?? '', limit: limit + 1 }),
      )
      const shown = found.slice(0, limit)
      const next = found.length > limit ? (shown.at(-1)?.name ?? null) : null
      return sendUncached(reply, JSON.stringify({ data: shown.map(accountJson), next_after: next }))
    },
}

const readAccount: OperatorRoute = {
  method: 'GET',
  path: account,
  scope: 'read',
  operationId: 'read_account',
  summary: 'Read an account',
  success: {
    status: 200,
    description: 'The account with its limits, keys, tallies and deletion.',
    example: {
      data: {
        ...exampleAccount,
        keys: { valid: 1, all: 2 },
        used: { idempotency_results: 0, audit_rows: 4 },
        cors_origins: [],
        deletion: null,
        tallies: [
          { resource: 'product', total: 0, version: 0, last_id: 0, ids: 'unassigned', sender_ids_from: null },
        ],
      },
    },
  },
  errors: [404],
  handler:
    ({ connections }) =>
    async ({ reply, name }) => {
      const details = await connections.run((connection) => showAccount(connection, name))
      return sendUncached(reply, JSON.stringify({ data: detailsJson(details) }))
    },
}

const applyRoute: OperatorRoute = {
  method: 'PUT',
  path: account,
  scope: 'provision',
  operationId: 'apply_account',
  summary: 'Create an account, or bring it to a described state',
  description:
    'Idempotent. Members that are left out keep their values. A key is created if the account has no valid key of its name, and is shown only in ' +
    'this response. The status is 201 if the account was created.',
  body: descriptionShape,
  success: {
    status: 200,
    description: 'What changed.',
    example: {
      data: {
        name: 'globex',
        result: 'changed',
        changes: [{ member: 'requests_per_minute', from: null, to: 60_000 }],
        keys: [{ key_id: 'Xq3ZpL0a', name: 'web shop', key: 'qm_EXAMPLEexampleEXAMPLEexampleEX000000' }],
      },
    },
  },
  errors: [409],
  handler:
    ({ connections }) =>
    async ({ request, reply, actor, name }) => {
      const faults = new Faults()
      const description = describedAccount(jsonBody(request, descriptionShape), faults, {
        pointer: '',
        others: [],
      })
      faults.throwIfAny('body_invalid')
      const applied = await connections.run((connection) =>
        applyAccount(connection, actor, { name, ...description }),
      )
      if (applied.result === 'created') reply.code(201).header('location', `${accounts}/${name}`)
      return sendUncached(reply, JSON.stringify({ data: appliedJson(applied) }))
    },
}

const statusRoute = (
  verb: 'suspend' | 'activate',
  status: Account['status'],
  summary: string,
): OperatorRoute => ({
  method: 'POST',
  path: `${account}/${verb}`,
  scope: 'provision',
  operationId: `${verb}_account`,
  summary,
  success: { status: 200, description: 'The account.', example: { data: { ...exampleAccount, status } } },
  errors: [404, 409],
  handler:
    ({ connections }) =>
    async ({ request, reply, actor, name }) => {
      rejectBody(request, 'This request')
      const changed = await connections.run((connection) => setStatus(connection, actor, name, status))
      return sendUncached(reply, JSON.stringify({ data: accountJson(changed) }))
    },
})

export const accountRoutes: readonly OperatorRoute[] = [
  listAccountsRoute,
  readAccount,
  applyRoute,
  statusRoute('suspend', 'suspended', 'Reject all keys of an account'),
  statusRoute('activate', 'active', 'Activate a suspended account, and cancel its scheduled deletion'),
]
