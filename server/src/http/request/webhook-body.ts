import type { FastifyRequest } from 'fastify'
import { type ResourceName, resources } from '../../catalog/resources.ts'
import { excerpt, Faults } from '../../errors/faults.ts'
import type { NewWebhook, Start, WebhookChange } from '../../webhooks/endpoints.ts'
import type { TestMessages } from '../../webhooks/test-messages.ts'
import { addUnknownMembers, type BodyShape, type JsonBody, jsonBody, kindOf } from './json-body.ts'

const createShape: BodyShape = {
  what: 'A webhook is created from resource, url, filter, fields and since',
  members: ['resource', 'url', 'filter', 'fields', 'since'],
  example: '{"resource":"product","url":"https://example.com/hook"}',
}
const changeShape: BodyShape = {
  what: 'url, filter and fields of a webhook can be changed',
  members: ['url', 'filter', 'fields'],
  example: '{"url":"https://example.com/hook"}',
}
const replayShape: BodyShape = {
  what: 'A replay has since',
  members: ['since'],
  example: '{"since":"beginning"}',
}

const resourceNames = Object.keys(resources)

export function newWebhookOf(request: FastifyRequest, messages: TestMessages): NewWebhook {
  const body = jsonBody(request, createShape)
  const faults = new Faults()
  addUnknownMembers(body, createShape, faults)
  const resource = resourceIn(body['resource'], faults)
  const created = {
    resource,
    url: urlIn(body, messages, faults),
    filter: filterIn(body['filter'], faults) ?? null,
    fields: fieldsIn(body['fields'], faults) ?? null,
    start: startIn(body['since'] ?? 'now', faults),
  }
  faults.throwIfAny('body_invalid')
  return created
}

export function changeOf(request: FastifyRequest, messages: TestMessages): WebhookChange {
  const body = jsonBody(request, changeShape)
  const faults = new Faults()
  addUnknownMembers(body, changeShape, faults)
  const change: WebhookChange = {
    url: body['url'] === undefined ? undefined : urlIn(body, messages, faults),
    filter: filterIn(body['filter'], faults),
    fields: fieldsIn(body['fields'], faults),
  }
  faults.throwIfAny('body_invalid')
  return change
}

export function startOf(request: FastifyRequest): Start {
  const body = jsonBody(request, replayShape)
  const faults = new Faults()
  addUnknownMembers(body, replayShape, faults)
  const start = startIn(body['since'], faults)
  faults.throwIfAny('body_invalid')
  return start
}

function resourceIn(value: unknown, faults: Faults): ResourceName {
  const found = Object.values(resources).find(({ name }) => name === value)
  if (found !== undefined) return found.name
  addFault(faults, 'resource', value, `must be one of ${resourceNames.join(', ')}`, resourceNames)
  return 'product'
}

function urlIn(body: JsonBody, messages: TestMessages, faults: Faults): string {
  const value = body['url']
  if (typeof value !== 'string') {
    addFault(faults, 'url', value, 'must be a URL that begins with https://', [
      'a URL such as https://example.com/hook',
    ])
    return ''
  }
  const message = messages.urlFault(value)
  if (message !== undefined) faults.add(() => ({ pointer: '/url', code: 'member_invalid', message }))
  return value
}

/** Undefined if the member is missing; null for no filter. */
function filterIn(value: unknown, faults: Faults): string | null | undefined {
  if (value === undefined || value === null || (typeof value === 'string' && value !== '')) return value
  addFault(faults, 'filter', value, 'must be a filter, or null for all records', [
    'a filter such as list_price>10',
    'null',
  ])
  return null
}

/** Separated by commas, as in a URL. */
function fieldsIn(value: unknown, faults: Faults): string | null | undefined {
  if (value === undefined || value === null) return value
  if (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((one) => typeof one === 'string' && !one.includes(','))
  )
    return value.join(',')
  addFault(faults, 'fields', value, 'must be an array of names of fields, or null for all', [
    'an array such as ["id","name"]',
    'null',
  ])
  return null
}

function startIn(value: unknown, faults: Faults): Start {
  if (value === 'now' || value === 'beginning') return value
  if (typeof value === 'string' && value !== '') return { cursor: value }
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return { version: value }
  const expected = ['now', 'beginning', 'a version', 'a cursor of the change feed']
  addFault(
    faults,
    'since',
    value,
    'must be now, beginning, a version or a cursor of the change feed',
    expected,
  )
  return 'now'
}

function addFault(
  faults: Faults,
  member: string,
  value: unknown,
  rule: string,
  expected: readonly string[],
): void {
  const is = typeof value === 'string' ? `"${excerpt(value)}"` : kindOf(value)
  faults.add(() => ({
    pointer: `/${member}`,
    code: value === undefined ? 'member_required' : 'member_invalid',
    message: value === undefined ? `${member} is missing. It ${rule}.` : `${member} ${rule}; it is ${is}.`,
    expected,
  }))
}
