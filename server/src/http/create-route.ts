import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { resources } from '../catalog/resources.ts'
import { type Failure, type Fault, invalid } from '../errors.ts'
import { limits } from '../limits.ts'
import { parseNoParameters } from '../query/list-request.ts'
import { createPartner, type Idempotency } from '../store/create-partner.ts'
import type { Store } from '../store/pool.ts'
import { accessFor } from './authenticate.ts'
import { bodyOf, rawQueryOf } from './url.ts'

export function createRoute(store: Store) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const scope = accessFor(request, 'partner:create')
    parseNoParameters(rawQueryOf(request))
    const name = nameOf(request)
    const created = await createPartner(store, scope, name, idempotencyOf(request, name))
    if (created.replayed) reply.header('idempotent-replayed', 'true')
    return reply
      .code(201)
      .header('location', `/api/v1/${resources.partner.path}/${created.id}`)
      .type('application/json; charset=utf-8')
      .send(`{"data":{"id":${created.id}}}`)
  }
}

function nameOf(request: FastifyRequest): string {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') {
    throw badBody({
      parameter: 'Content-Type',
      code: 'content_type_invalid',
      message: 'The body is JSON: send Content-Type: application/json.',
      expected: ['application/json'],
    })
  }
  const body = jsonObject(bodyOf(request))
  const faults: Fault[] = Object.keys(body)
    .filter((member) => member !== 'name')
    .slice(0, limits.errorsListedMax)
    .map((member) => ({
      pointer: `/${member.replaceAll('~', '~0').replaceAll('/', '~1').slice(0, 100)}`,
      code: 'member_unknown',
      message: `A partner is created from its name only; "${member.slice(0, 100)}" is not taken.`,
      expected: ['name'],
    }))
  const name = checkedName(body['name'], faults)
  if (faults.length > 0) throw badBody(...faults)
  return name
}

function checkedName(given: unknown, faults: Fault[]): string {
  const fault = (code: Fault['code'], message: string) =>
    faults.push({
      pointer: '/name',
      code,
      message,
      expected: [`a text of 1 to ${limits.partnerNameCharactersMax} characters`],
    })
  if (given === undefined) {
    fault('member_required', 'The name is missing.')
    return ''
  }
  if (typeof given !== 'string') {
    fault(
      'member_invalid',
      `The name must be a string; it is ${given === null ? 'null' : `a ${kindOf(given)}`}.`,
    )
    return ''
  }
  const name = given.trim()
  const characters = Array.from(name).length
  if (characters < 1) fault('member_invalid', 'The name is empty.')
  else if (characters > limits.partnerNameCharactersMax) {
    fault(
      'member_invalid',
      `The name has ${characters} characters; at most ${limits.partnerNameCharactersMax} are taken.`,
    )
  } else if (/\p{Cc}/u.test(name)) fault('member_invalid', 'The name has a control character in it.')
  else if (!name.isWellFormed()) fault('member_invalid', 'The name has half of a surrogate pair in it.')
  return name
}

function jsonObject(bytes: Buffer): Record<string, unknown> {
  let text: string
  let parsed: unknown
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    parsed = JSON.parse(text)
  } catch (error) {
    throw badBody({
      pointer: '',
      code: 'json_invalid',
      message:
        bytes.length === 0
          ? 'The body is empty; it must be a JSON object.'
          : `The body is not JSON${whereIn(error)}.`,
      expected: ['a JSON object such as {"name":"Nordwind Logistics"}'],
    })
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw badBody({
      pointer: '',
      code: 'json_invalid',
      message: `The body must be a JSON object; it is ${parsed === null ? 'null' : `a ${kindOf(parsed)}`}.`,
      expected: ['a JSON object such as {"name":"Nordwind Logistics"}'],
    })
  }
  if (
    Object.keys(parsed).length === 1 &&
    !singleMember.test(text) &&
    typeof Object.values(parsed)[0] === 'string'
  ) {
    // JSON.parse keeps the last of two; which one was meant is not ours to guess.
    throw badBody({ pointer: '/name', code: 'member_invalid', message: 'The name is given more than once.' })
  }
  return { ...parsed }
}

const singleMember = /^\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*"(?:[^"\\]|\\.)*"\s*\}\s*$/

function whereIn(error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  if (message.startsWith('Unexpected end')) return ': it ends too early'
  const position = /at position (\d+)/.exec(message)?.[1]
  return position === undefined ? '' : `: it goes wrong at character ${position}`
}

function kindOf(given: unknown): string {
  return Array.isArray(given) ? 'list' : typeof given === 'object' ? 'JSON object' : typeof given
}

function idempotencyOf(request: FastifyRequest, name: string): Idempotency | undefined {
  const keys = request.raw.headersDistinct['idempotency-key']
  if (keys === undefined) return undefined
  const [key] = keys
  if (keys.length !== 1 || key === undefined || !printable.test(key)) {
    throw invalid([
      {
        parameter: 'Idempotency-Key',
        code: 'header_invalid',
        message: `The Idempotency-Key must be one header of 1 to ${limits.idempotencyKeyCharactersMax} printable ASCII characters.`,
      },
    ])
  }
  return { key, requestHash: createHash('sha256').update(name).digest() }
}

const printable = new RegExp(`^[\\x20-\\x7e]{1,${limits.idempotencyKeyCharactersMax}}$`)

function badBody(...faults: Fault[]): Failure {
  return invalid(faults, 'body_invalid')
}
