import { readFileSync } from 'node:fs'
import type { Operator } from '@quartermaster/filter'
import { describe, expect, it } from 'vitest'
import { type FieldType, operatorsOf } from '../../server/src/catalog/field.ts'
import { wireFile, wireText } from '../generate-wire.ts'
import { fieldsOf, operatorOf } from './condition.ts'
import type { Product, ProductKinds } from './wire.ts'

it('wire.ts is up to date with the OpenAPI document (npm run wire --workspace client)', () => {
  expect(readFileSync(wireFile, 'utf8')).toBe(wireText())
})

describe('the builder', () => {
  /** The methods that condition.ts declares for each kind. test/compiles.ts checks which calls compile. */
  const methods: Record<FieldType, readonly (keyof typeof operatorOf)[]> = {
    text: ['eq', 'ne', 'contains', 'notContains', 'in', 'notIn'],
    integer: ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'notIn'],
    decimal: ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'notIn'],
    timestamp: ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'notIn'],
    boolean: ['eq', 'ne', 'in', 'notIn'],
  }

  it('has the same operators for each type as the service', () => {
    const byType = Object.entries(methods).map(([type, names]) => [
      type,
      names.map((name): Operator => operatorOf[name]),
    ])
    expect(Object.fromEntries(byType)).toEqual(operatorsOf)
  })

  it('has a method for each operator', () => {
    expect(Object.keys(fieldsOf<Product, ProductKinds>().name)).toEqual(Object.keys(operatorOf))
  })
})
