import { hash } from 'node:crypto'
import type { Field } from '../catalog/field.ts'
import type { Resource } from '../catalog/resources.ts'

/** A hash of the resource and the fields. */
export function fieldsHash(resource: Resource, fields: readonly Field[] = resource.fields): string {
  return hashOf(`${resource.schemaName} ${namesOf(fields)}`)
}

/** 96 bits: short enough for an ETag, and long enough that collisions are improbable. */
export function hashOf(key: string): string {
  return hash('sha256', key, 'base64url').slice(0, 16)
}

export function namesOf(fields: readonly Field[]): string {
  return fields.map((field) => field.name).join(',')
}
