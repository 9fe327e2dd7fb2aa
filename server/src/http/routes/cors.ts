import type { FastifyReply } from 'fastify'
import {
  type OriginFault,
  type OriginsRow,
  originFault,
  originsIn,
  originsStatement,
  setCorsOrigins,
} from '../../accounts/cors-origins.ts'
import { containsKey, containsKeyMessage } from '../../accounts/key-format.ts'
import { excerpt, Faults } from '../../errors/faults.ts'
import { limits } from '../../limits/limits.ts'
import { bodyContent, bodySchemas, jsonResponse, respondsWith } from '../openapi/parts.ts'
import { curl, sendsJson } from '../openapi/samples.ts'
import { ref, responseSchema } from '../openapi/schemas.ts'
import { timed } from '../plugins/request-context.ts'
import { addUnknownMembers, type BodyShape, type JsonBody, jsonBody, kindOf } from '../request/body.ts'
import { sendUncached } from '../respond.ts'
import { administrationOf } from './administration.ts'
import { type Route, readMethods } from './route.ts'

/** Routes for the origins whose pages may use the API of the account. `plugins/cors.ts` applies them. */

const path = '/manage/v1/cors'
const tag = 'Administration'
const example = { origins: ['https://shop.example.com'] }

const origins = {
  type: 'array',
  description:
    'Origins as browsers send them: scheme, host in lower case, and any non-default port. Pages on all other origins cannot use the API.',
  maxItems: limits.corsOriginsMax,
  uniqueItems: true,
  items: { type: 'string', maxLength: limits.corsOriginCharactersMax, pattern: '^https?://[^/*]+$' },
  examples: [example.origins],
}

const shape: BodyShape = {
  name: 'CorsChange',
  title: 'CORS change',
  members: { origins },
  required: ['origins'],
  what: 'The origins of an account can be changed',
  example: '{"origins":["https://shop.example.com"]}',
}

const response = {
  '200': jsonResponse('The origins that are allowed.', 'CorsResponse', { data: example }),
}
const schemas = {
  Cors: { title: 'CORS', type: 'object', required: ['origins'], properties: { origins } },
  CorsResponse: responseSchema('CORS response', ref('schemas', 'Cors')),
}

export const corsRoute: Route = {
  methods: readMethods,
  path,
  scopes: ['account:manage'],
  operation: {
    operationId: 'get_cors',
    tag,
    summary: 'Get the allowed origins',
    samples: [curl('', path)],
    responses: { ...response, ...respondsWith('invalid') },
    schemas,
  },
  handler: (parts) => async (request, reply) => {
    const { access } = administrationOf(request, reply, parts)
    const database = parts.database.nodeOf(access)
    const rows = await timed(request, () => database.read<OriginsRow>(originsStatement(access)))
    return sendOrigins(reply, originsIn(rows))
  },
}

export const changeCorsRoute: Route = {
  methods: ['PATCH'],
  path,
  scopes: ['account:manage'],
  bodies: ['application/json'],
  operation: {
    operationId: 'change_cors',
    tag,
    summary: 'Change the allowed origins',
    description:
      'The list replaces the earlier one; an empty one allows none. The change applies within a second. Visitors can read the key in a page, so give it a read-only key.',
    samples: [curl(' -X PATCH', path, sendsJson, `-d '${shape.example}'`)],
    body: bodyContent(shape),
    responses: { ...response, ...respondsWith('invalid', 'corsConflict', 'tooLarge') },
    schemas: { ...schemas, ...bodySchemas(shape) },
  },
  handler: (parts) => async (request, reply) => {
    const { access, actor, write } = administrationOf(request, reply, parts)
    const changed = originsOf(jsonBody(request, shape))
    await write((transaction) => setCorsOrigins(transaction, access, actor, changed))
    return sendOrigins(reply, changed)
  },
}

function sendOrigins(reply: FastifyReply, allowed: readonly string[]): FastifyReply {
  return sendUncached(reply, JSON.stringify({ data: { origins: allowed } }))
}

function originsOf(body: JsonBody): readonly string[] {
  const faults = new Faults()
  addUnknownMembers(body, shape, faults)
  const value = body['origins']
  const found: string[] = []
  if (!Array.isArray(value)) {
    faults.add(() => ({
      pointer: '/origins',
      code: value === undefined ? 'member_required' : 'member_invalid',
      message:
        value === undefined
          ? 'The origins are missing. Send an empty array to allow none.'
          : `The origins must be an array of strings; they are ${kindOf(value)}.`,
      expected: ['an array such as ["https://shop.example.com"]', '[]'],
    }))
  } else if (value.length > limits.corsOriginsMax) {
    faults.add(() => ({
      pointer: '/origins',
      code: 'member_invalid',
      message: `There are ${value.length} origins; the maximum is ${limits.corsOriginsMax}.`,
      expected: [`at most ${limits.corsOriginsMax} origins`],
    }))
  } else {
    for (const [i, origin] of value.entries()) addOrigin(found, i, origin, faults)
  }
  faults.throwIfAny('body_invalid')
  return found
}

function addOrigin(found: string[], i: number, origin: unknown, faults: Faults): void {
  const fault = faultOf(found, origin)
  if (typeof origin === 'string') found.push(origin)
  if (fault === undefined) return
  faults.add(() => ({
    pointer: `/origins/${i}`,
    code: 'member_invalid',
    expected: ['an origin such as https://shop.example.com'],
    ...fault,
  }))
}

function faultOf(found: readonly string[], origin: unknown): OriginFault | undefined {
  if (typeof origin !== 'string') return { message: `An origin must be a string; it is ${kindOf(origin)}.` }
  if (containsKey(origin)) return { message: `The origin ${containsKeyMessage}` }
  const fault = originFault(origin)
  if (fault !== undefined) return { ...fault, message: `"${excerpt(origin)}" ${fault.message}` }
  return found.includes(origin) ? { message: `"${excerpt(origin)}" occurs more than once.` } : undefined
}
