import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Check } from '../accounts/checks.ts'
import type { Resource } from '../catalog/resources.ts'
import { Failure } from '../errors.ts'
import { limits } from '../limits.ts'
import { type PlannedList, plannedExport, plannedList } from '../query/planned.ts'
import { type KnownOfList, type ListRow, listStatement } from '../query/statement.ts'
import type { HangUp } from '../store/hang-up.ts'
import { listName } from '../store/list-memory.ts'
import type { Store } from '../store/pool.ts'
import { changingOver } from '../store/sqlstate.ts'
import type { Turns } from '../store/turns.ts'
import { isOlder, isSameState, type Tally } from '../tally-state.ts'
import { type Answer, answerOf, etagOf, knownEtag, sendAnswer, sendNotModified } from './answer.ts'
import type { Answers } from './answers.ts'
import { checkFor } from './authenticate.ts'
import { linkHeader, listBody, pageNumbers } from './envelope.ts'
import { type ExportParts, sendExport } from './export-answer.ts'
import { answerFrom, factsOf, timed } from './facts.ts'
import { rawParameters } from './list-parameters.ts'
import { exportFormatOf } from './media.ts'
import { resourcePath } from './url.ts'

export interface Reads extends ExportParts {
  readonly store: Store
  readonly turns: Turns
  readonly answers: Answers
}

/** A list, asked by GET with its parameters in the URL or by QUERY with the same in the body. */
export function listRoute(reads: Reads, resource: Resource) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const check = checkFor(request, `${resource.name}:read`)
    const [raw, source] = rawParameters(request)
    const format = exportFormatOf(request.headers.accept)
    if (format !== undefined) {
      const all = plannedExport(resource, raw, source, format)
      return sendExport(reads, request, reply, check, all, format)
    }
    const list = plannedList(resource, raw, source)
    const facts = factsOf(request)
    const known = knownEtag(request, check.tally, list.mark)
    if (known !== undefined) {
      facts.source = 'unchanged'
      return sendNotModified(reply, known)
    }
    const read = (hangUp: HangUp) => {
      facts.source = 'read'
      return timed(request, () => readList(reads, check, list, hangUp))
    }
    const answer = await answerFrom(request, reads.answers.get(check, list.mark, read, reply.raw))
    facts.records = answer.records
    return sendAnswer(request, reply, answer)
  }
}

async function readList(
  reads: Reads,
  check: Check & { readonly tally: Tally },
  list: PlannedList,
  hangUp: HangUp,
): Promise<Answer> {
  const { plan, page } = list
  const [row, total] = await rowOf(reads, check, list, hangUp)
  const pages = pageNumbers(page, plan.limit, total)
  const link = linkHeader(resourcePath(plan.resource), list.pageQuery, pages)
  return answerOf(
    row,
    etagOf(row, list.mark),
    listBody(row.records, row.count, total, pages),
    link.length <= limits.linkBytesMax ? link : undefined,
    Number(row.count),
  )
}

/** The page and the total, of one state. */
async function rowOf(
  { turns, memory }: Reads,
  { access, tally }: Check & { readonly tally: Tally },
  { plan, page, filterKey }: PlannedList,
  hangUp: HangUp,
): Promise<[ListRow, number]> {
  const name = listName(access, plan.resource.name, filterKey)
  // To plan for a filter, or to remember it, takes longer than to hold it against so few.
  const isLittle = plan.where !== undefined && tally.total <= limits.littleRecordsMax
  const known: KnownOfList = isLittle ? { isLittle } : memory.recall(name, tally, plan.limit, page)
  // What lies behind the last record need not be walked to.
  const knownTotal = plan.where === undefined ? tally.total : known.total
  if (knownTotal !== undefined && (page - 1) * plan.limit >= knownTotal) {
    return [{ ...tally, total: null, count: '0', records: '', last_id: null }, knownTotal]
  }
  let [row] = await turns.read<ListRow>(access, listStatement(access, plan, page, known), hangUp)
  if (row !== undefined && !isSameState(row, tally)) {
    // Somebody wrote in between: what was remembered may not hold of what was read.
    if (known.total !== undefined) {
      ;[row] = await turns.read<ListRow>(access, listStatement(access, plan, page), hangUp)
    }
  }
  if (row === undefined) throw new Failure('internal', 'Something went wrong on our side. It has been noted.')
  if (isOlder(row, tally)) throw changingOver()
  const total = Number(row.total ?? known.total)
  // Near the beginning of a whole list there is nothing to gain: the tally has the total, and few are skipped.
  if (!isLittle && (plan.where !== undefined || page * plan.limit > limits.quickRecordsMax)) {
    const lastId = Number(row.count) === plan.limit ? (row.last_id ?? undefined) : undefined
    memory.note(name, row, { total, limit: plan.limit, page, lastId })
  }
  return [row, total]
}
