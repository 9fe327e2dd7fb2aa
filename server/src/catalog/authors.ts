import type { Field } from './field.ts'

/**
 * Who wrote a record: the id of the API key, or one of the authors below, which no key id can be. Null if a version of the
 * service wrote it that did not know. They have no index: no write should be slower because of them.
 */
const createdBy: Field = {
  name: 'created_by',
  type: 'text',
  nullable: true,
  description:
    'Who created the record: a key id, or `import` for an import on the command line. Null if it is not known. Only if `fields` names it.',
  example: 'b7TqM2vc',
  unindexed: true,
}

export const changedBy: Field = {
  name: 'changed_by',
  type: 'text',
  nullable: true,
  description:
    'Who wrote the record last: a key id, `import`, or `restore` for an archive that does not know. Null if it is not known. Only if `fields` names it.',
  example: 'b7TqM2vc',
  unindexed: true,
}

export const authorFields: readonly Field[] = [createdBy, changedBy]

/** The author of a write: a key id, or one of these. Key ids have eight characters. An operator is named for an erasure. */
export const importAuthor = 'import'
export const restoreAuthor = 'restore'
export const operatorAuthor = 'operator'
