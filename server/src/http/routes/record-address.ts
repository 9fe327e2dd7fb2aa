import { type KeyField, keyFieldsOf } from '../../catalog/own-fields.ts'
import type { Resource } from '../../catalog/resources.ts'
import { Failure, keyValueUnknown, recordUnknown } from '../../errors/errors.ts'
import { excerpt } from '../../errors/faults.ts'
import { nearest } from '../../errors/nearest.ts'
import { limits } from '../../limits/limits.ts'
import { valueOfText } from '../../writes/field-value.ts'
import type { RecordAddress } from '../../writes/record-change.ts'
import type { KeyValue } from '../../writes/record-keys.ts'
import { resourcePath } from '../paths.ts'
import type { RouteRequest } from './route.ts'

/** Which record the path of a request names. */
export type AddressOf = (request: RouteRequest, resource: Resource) => RecordAddress

/** `…/product/7` */
export const byId: AddressOf = ({ params: { id } }, resource) => {
  requireId(resource, id)
  return { id }
}

/** `…/product/x_sku/4711` */
export const byKey: AddressOf = (request, resource) => ({ key: keyIn(request, resource) })

export function keyIn({ params }: RouteRequest, resource: Resource): KeyValue {
  const { key: name = '', value: text = '' } = params
  const help = `A ${resource.noun} is addressed by ${resourcePath(resource)}/{id}, or by a unique field and its value.`
  const field = readyKey(resource, name, (message) => new Failure('key_unknown', `${message} ${help}`))
  const value = valueOfText(field, text)
  if (typeof value !== 'string') throw keyValueUnknown(resource.noun, field.name, excerpt(text))
  return { field, value }
}

/** The unique field with this name, if records can be found by it. */
export function readyKey(resource: Resource, name: string, unknown: (message: string) => Failure): KeyField {
  const fields = keyFieldsOf(resource)
  const field = fields.find((one) => one.name === name)
  if (field === undefined) throw unknown(unknownText(resource, name, fields))
  if (field.key.isReady) return field
  throw new Failure(
    'key_not_ready',
    `The values of ${name} are still being read, so that ${resource.plural} can be found by it. Try again shortly: GET /manage/v1/fields/${resource.name}.${name} shows when it is ready.`,
  )
}

function unknownText(
  { noun, plural, fields: all }: Resource,
  name: string,
  fields: readonly KeyField[],
): string {
  const names = fields.map((field) => field.name)
  const near = nearest(name, names)
  const reason = all.some((field) => field.name === name)
    ? `${name} is not unique among ${plural}.`
    : `A ${noun} has no unique field "${excerpt(name)}".`
  if (names.length === 0) return `${reason} The account has none: declare one at /manage/v1/fields.`
  return near === undefined
    ? `${reason} Its unique fields are ${names.join(', ')}.`
    : `${reason} Did you mean ${near}?`
}

/** The path that names the record. */
export function addressPath(resource: Resource, address: RecordAddress): string {
  const path = resourcePath(resource)
  if ('id' in address) return `${path}/${address.id}`
  const { field, value } = address.key
  return `${path}/${field.name}/${encodeURIComponent(value)}`
}

/** The error of a read that found no record. */
export function unknownAt({ noun }: Resource, address: RecordAddress): Failure {
  if ('id' in address) return recordUnknown(noun, address.id)
  const { field, value } = address.key
  return keyValueUnknown(noun, field.name, excerpt(value))
}

/** A positive integer without leading zeros that a JSON number represents exactly. No record has any other id. */
export function requireId({ noun }: Resource, text: string): void {
  if (!/^[1-9]\d{0,15}$/.test(text) || Number(text) > limits.integerMax)
    throw recordUnknown(noun, excerpt(text))
}
