import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Collection } from '../server/src/catalog/collection.ts'
import { operatorsOf } from '../server/src/catalog/field.ts'
import { resources } from '../server/src/catalog/resources.ts'
import { views } from '../server/src/catalog/views.ts'
import { resourcePath, viewPath } from '../server/src/http/paths.ts'
import { detailTexts } from '../server/src/http/reference/detail-texts.ts'

/**
 * Generates `src/api/catalog.ts`, the fields of every list, which the console needs before its first request, and
 * `src/api/delivery-errors.ts`. `catalog.test.ts` fails if one is out of date.
 */

export const catalogFile = fileURLToPath(new URL('src/api/catalog.ts', import.meta.url))

export function catalogText(): string {
  const lists = [
    ...Object.values(resources).map((resource) => listOf(resource, resourcePath(resource))),
    ...Object.values(views).map((view) => listOf(view, viewPath(view))),
  ]
  const names = lists.map(({ name }) => `'${name}'`).join(' | ')
  return [
    '// Generated from the catalog of the server: npm run catalog -w console',
    "import type { Operator } from '@quartermaster/filter'",
    '',
    "export type FieldType = 'integer' | 'decimal' | 'text' | 'boolean' | 'timestamp'",
    `export type CollectionName = ${names}`,
    '',
    'export interface Field {',
    '  readonly name: string',
    '  readonly type: FieldType',
    '  readonly nullable: boolean',
    '  readonly description: string',
    '}',
    '',
    'export interface Collection {',
    '  readonly name: CollectionName',
    '  readonly noun: string',
    '  readonly plural: string',
    '  readonly path: string',
    '  readonly description: string',
    '  readonly fields: readonly Field[]',
    '}',
    '',
    `export const operatorsOf: Record<FieldType, readonly Operator[]> = ${JSON.stringify(operatorsOf)}`,
    '',
    'export const collections: Record<CollectionName, Collection> = {',
    ...lists.flatMap(({ fields, ...list }) => [
      `  ${list.name}: {`,
      ...Object.entries(list).map(([name, value]) => `    ${name}: ${JSON.stringify(value)},`),
      '    fields: [',
      ...fields.map((field) => `      ${JSON.stringify(field)},`),
      '    ],',
      '  },',
    ]),
    '}',
    '',
  ].join('\n')
}

function listOf({ name, noun, plural, description, fields }: Collection, path: string) {
  return {
    name,
    noun,
    plural,
    path,
    description,
    fields: fields.map(({ name: field, type, nullable, description: meaning }) => ({
      name: field,
      type,
      nullable,
      description: meaning,
    })),
  }
}

export const deliveryErrorsFile = fileURLToPath(new URL('src/api/delivery-errors.ts', import.meta.url))

/** Why the delivery of a webhook failed, and what to do. Not in the catalog, which is part of the first view. */
export function deliveryErrorsText(): string {
  return [
    '// Generated from the texts of the server: npm run catalog -w console',
    'export interface DeliveryError {',
    '  readonly cause: string',
    '  readonly remedy: string',
    '}',
    '',
    'export const deliveryErrors: Readonly<Record<string, DeliveryError>> = {',
    ...Object.entries(detailTexts)
      .filter(([, { place }]) => place.includes('webhook deliveries'))
      .map(([code, { cause, remedy }]) => `  ${code}: ${JSON.stringify({ cause, remedy })},`),
    '}',
    '',
  ].join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(catalogFile, catalogText())
  writeFileSync(deliveryErrorsFile, deliveryErrorsText())
}
