import { type Deletion, deletionJson, deletionStatement } from '../../accounts/lifecycle/deletion.ts'
import { runOn } from '../../accounts/lifecycle/run-on.ts'
import { scheduleDeletion } from '../../accounts/lifecycle/schedule-deletion.ts'
import { callJson, listCalls } from '../../accounts/operators/operator-audit.ts'
import { type AccountUsage, topUsage, usageOrders } from '../../accounts/operators/top-usage.ts'
import { accountUnknown } from '../../errors/errors.ts'
import { limits } from '../../limits/limits.ts'
import { inTransaction } from '../../postgres/transaction.ts'
import { rejectBody } from '../request/body.ts'
import { sendUncached } from '../respond.ts'
import { base, type OperatorRoute } from './operator-route.ts'
import { choiceIn, integerIn, wrongValue } from './query.ts'

/** Routes that delete accounts, and show deletions, usage and the calls of operators. */

const graceDefault = limits.deletionGraceDays * 86_400
const limitOf = (description: string) => ({
  description,
  schema: { type: 'integer', minimum: 1, maximum: limits.pageRecordsMax, default: limits.commandRowsDefault },
})
const pageLimit = { min: 1, max: limits.pageRecordsMax, standard: limits.commandRowsDefault }

const exampleDeletion = {
  name: 'globex',
  state: 'scheduled',
  requested_at: '2026-11-14T09:30:00.000Z',
  requested_by: 'Xq3ZpL0a at 10.0.0.7',
  due_at: '2026-11-21T09:30:00.000Z',
  started_at: null,
  ended_at: null,
  records: null,
  deleted_rows: {},
}

const deleteRoute: OperatorRoute = {
  method: 'DELETE',
  path: `${base}/accounts/{name}`,
  scope: 'erase',
  operationId: 'delete_account',
  summary: 'Suspend an account, and delete it when its grace period ends',
  description:
    'This process begins the deletion within a minute after the grace period. Until then, activating the account cancels it. Without a grace ' +
    'period (`grace_seconds=0`) the request must repeat the name in `confirm`.',
  query: {
    grace_seconds: {
      description: 'Seconds until the account is deleted.',
      schema: { type: 'integer', minimum: 0, maximum: limits.keyOverlapSecondsMax, default: graceDefault },
    },
    confirm: {
      description: "The account's name again. Required without a grace period.",
      schema: { type: 'string' },
    },
  },
  success: { status: 202, description: 'The deletion.', example: { data: exampleDeletion } },
  errors: [404],
  handler:
    ({ connections }) =>
    async ({ request, reply, actor, name, query }) => {
      rejectBody(request, 'This request')
      const grace = integerIn(query, 'grace_seconds', {
        min: 0,
        max: limits.keyOverlapSecondsMax,
        standard: graceDefault,
      })
      const confirmed = query.get('confirm')
      if ((grace === 0 || confirmed !== undefined) && confirmed !== name)
        throw wrongValue('confirm', "the account's name")
      const deletion = await connections.run((connection) =>
        inTransaction(connection, (transaction) => scheduleDeletion(transaction, actor, name, grace)),
      )
      return sendUncached(reply.code(202), JSON.stringify({ data: deletionJson(deletion) }))
    },
}

const readDeletion: OperatorRoute = {
  method: 'GET',
  path: `${base}/deletions/{name}`,
  scope: 'read',
  operationId: 'read_deletion',
  summary: 'Read the progress or the result of a deletion',
  success: { status: 200, description: 'The deletion.', example: { data: exampleDeletion } },
  errors: [404],
  handler:
    ({ connections }) =>
    async ({ reply, name }) => {
      const [deletion] = await connections.run((connection) =>
        runOn(connection)<Deletion>(deletionStatement(name)),
      )
      if (deletion === undefined) throw accountUnknown(name)
      return sendUncached(reply, JSON.stringify({ data: deletionJson(deletion) }))
    },
}

const usageRoute: OperatorRoute = {
  method: 'GET',
  path: `${base}/usage`,
  scope: 'read',
  operationId: 'read_usage',
  summary: 'List the accounts that use the most',
  description: '`ms` is the time of all requests, up to a tenth too high.',
  query: {
    top: {
      description: 'What to order by.',
      schema: { type: 'string', enum: usageOrders, default: 'requests' },
    },
    days: {
      description: 'The days to sum up, in UTC, today included.',
      schema: {
        type: 'integer',
        minimum: 1,
        maximum: limits.usageDayDays,
        default: limits.operatorUsageDaysDefault,
      },
    },
    limit: limitOf('The maximum number of accounts.'),
  },
  success: {
    status: 200,
    description: 'The accounts, the highest first.',
    example: { data: [{ account: 'globex', requests: 48_210, errors: 12, ms: 96_114.5 }] },
  },
  errors: [],
  handler:
    ({ connections }) =>
    async ({ reply, query }) => {
      const top = choiceIn(query, 'top', usageOrders)
      const days = integerIn(query, 'days', {
        min: 1,
        max: limits.usageDayDays,
        standard: limits.operatorUsageDaysDefault,
      })
      const limit = integerIn(query, 'limit', pageLimit)
      const data = await connections.run((connection) =>
        runOn(connection)<AccountUsage>(topUsage(top, days, limit)),
      )
      return sendUncached(reply, JSON.stringify({ data }))
    },
}

const auditRoute: OperatorRoute = {
  method: 'GET',
  path: `${base}/audit`,
  scope: 'read',
  operationId: 'list_operator_calls',
  summary: 'List the calls of the operator API, newest first',
  query: {
    before: { description: 'Only calls before the one with this id.', schema: { type: 'string' } },
    limit: limitOf('Calls of a page.'),
  },
  success: {
    status: 200,
    description: 'The calls.',
    example: {
      data: [
        {
          at: '2026-11-14T09:30:00.000Z',
          id: 'mi1x2y3zq0a7f3k9p1b0c',
          token_id: 'Xq3ZpL0a',
          token_name: 'terraform',
          address: '10.0.0.7',
          application: 'Terraform/1.9',
          method: 'PUT',
          path: '/operator/v1/accounts/globex',
          request_id: '5f0c1d6e-7a38-4a53-8f7c-0f7f2a1c9b11',
          status: 200,
          error_code: null,
        },
      ],
    },
  },
  errors: [],
  handler:
    ({ connections }) =>
    async ({ reply, query }) => {
      const limit = integerIn(query, 'limit', pageLimit)
      const calls = await connections.run((connection) =>
        listCalls(runOn(connection), { before: query.get('before'), limit }),
      )
      return sendUncached(reply, JSON.stringify({ data: calls.map(callJson) }))
    },
}

export const operationRoutes: readonly OperatorRoute[] = [deleteRoute, readDeletion, usageRoute, auditRoute]
