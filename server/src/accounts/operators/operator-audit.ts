import { newEntryId } from '../../entry-id.ts'
import { limits } from '../../limits/limits.ts'
import type { Transaction } from '../../postgres/transaction.ts'
import { type Statement, sql, value } from '../../sql.ts'
import { withoutKeys } from '../key-format.ts'

/** The audit log of the operator API: a row for each call with a valid token, whatever it returned. */

export interface OperatorCall {
  readonly tokenId: string
  readonly tokenName: string
  readonly address: string | null
  readonly application: string | null
  readonly method: string
  readonly path: string
  readonly requestId: string
}

export interface AuditedCall extends OperatorCall {
  readonly at: Date
  readonly id: string
  readonly status: number | null
  readonly errorCode: string | null
}

/** Written before the call does anything, so that no change is without its row. */
export function startCall(id: string, call: OperatorCall): Statement {
  const text = (of: string | null) =>
    value(of === null ? null : withoutKeys(of).slice(0, limits.auditTextCharactersMax).toWellFormed())
  return sql`insert into operator_audit (id, token_id, token_name, address, application, method, path, request_id)
values (${value(id)}::text, ${value(call.tokenId)}::text, ${value(call.tokenName)}::text, ${value(call.address)}::text,
  ${text(call.application)}::text, ${value(call.method)}::text, ${text(call.path)}::text, ${value(call.requestId)}::text)`.statement(
    'account',
  )
}

/** By the id only: the row was written a moment ago. */
export function endCall(id: string, status: number, errorCode: string | undefined): Statement {
  return sql`update operator_audit set status = ${value(status)}::int, error_code = ${value(errorCode)}::text
where at > now() - interval '1 day' and id = ${value(id)}::text`.statement('account')
}

export function newCallId(): string {
  return newEntryId(Date.now())
}

/** Newest first. `before`: the id of the last call of the page before. */
export async function listCalls(
  run: Transaction['run'],
  { before, limit }: { readonly before: string | undefined; readonly limit: number },
): Promise<AuditedCall[]> {
  const until =
    before === undefined
      ? sql``
      : sql` where (at, id) < (select at, id from operator_audit where id = ${value(before)}::text)`
  return await run<AuditedCall>(
    sql`select at, id, token_id as "tokenId", token_name as "tokenName", address, application, method, path,
  request_id as "requestId", status, error_code as "errorCode"
from operator_audit${until} order by at desc, id desc limit ${value(limit)}::int`.statement('account'),
  )
}

export function expireCalls(): Statement {
  return sql`delete from operator_audit
where at < now() - make_interval(days => ${value(limits.operatorAuditDays)}::int)`.statement('account')
}

export function callJson(call: AuditedCall) {
  return {
    at: call.at,
    id: call.id,
    token_id: call.tokenId,
    token_name: call.tokenName,
    address: call.address,
    application: call.application,
    method: call.method,
    path: call.path,
    request_id: call.requestId,
    status: call.status,
    error_code: call.errorCode,
  }
}
