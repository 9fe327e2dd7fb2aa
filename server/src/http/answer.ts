import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { limits } from '../limits.ts'
import { stateName, type TallyState } from '../tally-state.ts'
import { serverTiming } from './facts.ts'
import { takesGzip } from './media.ts'

/** An answer ready to send, and the state of the data that it shows. */
export interface Answer extends TallyState {
  readonly etag: string
  /** A short one stays a text: Node sends it and its headers by one write, and bytes by two. */
  readonly body: string | Buffer
  readonly bytes: number
  readonly link: string | undefined
  readonly records: number
  /** The body compressed, once somebody wanted it so. */
  zipped?: Promise<Buffer>
}

const zip = promisify(gzip)

export function answerOf(
  { epoch, version, xid }: TallyState,
  etag: string,
  text: string,
  link: string | undefined,
  records: number,
): Answer {
  const body = text.length <= limits.answerTextCharactersMax ? text : Buffer.from(text)
  return { epoch, version, xid, etag, body, bytes: Buffer.byteLength(body), link, records }
}

/** Weak: the compressed and the plain bytes are one answer. The state makes it new, the rest tells lists apart. */
export function etagOf(state: TallyState, mark: string): string {
  return `W/"${stateName(state)}-${mark}"`
}

/** The `ETag` at this state, if the caller has it already. */
export function knownEtag(request: FastifyRequest, state: TallyState, mark: string): string | undefined {
  if (request.headers['if-none-match'] === undefined) return undefined
  const etag = etagOf(state, mark)
  return isKnown(request, etag) ? etag : undefined
}

/** Whether the caller has this already (RFC 9110, If-None-Match: weak comparison). */
export function isKnown(request: FastifyRequest, etag: string): boolean {
  const given = request.headers['if-none-match']
  if (given === undefined) return false
  return given === etag || given.split(',').some((one) => one.trim().replace(/^W\//, '') === etag.slice(2))
}

export function sendNotModified(reply: FastifyReply, etag: string): FastifyReply {
  return sendReady(validators(reply, etag).code(304))
}

/**
 * Past Fastify's own way, on which a payload is looked at from all sides: there is nothing to serialize, and most
 * requests end here. The hook before sending does not run, so the times are told here.
 */
function sendReady(reply: FastifyReply, body?: string | Buffer): FastifyReply {
  serverTiming(reply.request, reply)
  const headers: (string | number | string[])[] = []
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) headers.push(name, value)
  }
  reply.hijack()
  reply.raw.writeHead(reply.statusCode, headers).end(body)
  return reply
}

export async function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
): Promise<FastifyReply> {
  // `*`: whatever there is, and now it is known that there is something.
  if (request.headers['if-none-match'] === '*' || isKnown(request, answer.etag)) {
    return sendNotModified(reply, answer.etag)
  }
  validators(reply, answer.etag).type('application/json; charset=utf-8')
  if (answer.link !== undefined) reply.header('link', answer.link)
  if (answer.bytes < limits.zipBytesMin || !takesGzip(request.headers['accept-encoding'])) {
    return sendReady(reply.header('content-length', answer.bytes), answer.body)
  }
  answer.zipped ??= zip(answer.body)
  const zipped = await answer.zipped
  return sendReady(reply.header('content-encoding', 'gzip').header('content-length', zipped.length), zipped)
}

export function validators(reply: FastifyReply, etag: string): FastifyReply {
  return reply
    .header('etag', etag)
    .header('cache-control', 'private, no-cache')
    .header('vary', 'accept, accept-encoding')
}
