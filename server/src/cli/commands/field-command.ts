import { setTimeout as sleep } from 'node:timers/promises'
import { accountNamed } from '../../accounts/directory.ts'
import type { Config } from '../../config/config.ts'
import { buildKey } from '../../fields/key-build.ts'
import {
  buildOf,
  changeField,
  createField,
  deleteField,
  getField,
  listFields,
  type NewField,
  type OwnField,
  parseFieldId,
  uniqueTypes,
} from '../../fields/manage-fields.ts'
import { inTransaction, type Transaction } from '../../postgres/transaction.ts'
import { asOwner } from '../database/owner.ts'
import { operator } from '../operator.ts'
import { note, printJson, printLine, printTable } from '../print.ts'
import type { JsonOption } from './account-command.ts'
import { changeAccount } from './change-account.ts'

export interface FieldOptions extends JsonOption {
  readonly account: string
}

export type CreateFieldOptions = FieldOptions & NewField

export async function fieldList(config: Config, options: FieldOptions): Promise<void> {
  const fields = await changeAccount(config, options.account, 'field', (transaction, scope) =>
    listFields(transaction, scope),
  )
  if (options.json === true) printJson({ account: options.account, fields })
  else if (fields.length === 0) note(`${options.account} has declared no fields.`)
  else
    printTable(
      ['ID', 'TYPE', 'UNIQUE', 'CREATED', 'LABEL'],
      fields.map((field) => [field.id, field.type, uniqueText(field), field.created_at, field.label]),
    )
}

export async function fieldCreate(config: Config, options: CreateFieldOptions): Promise<void> {
  const { account, resource, name, type, label, unique } = options
  if (unique && !uniqueTypes.includes(type))
    throw new Error(`Only a field of type ${uniqueTypes.join(' or ')} can be unique.`)
  const field = await changeAccount(config, account, 'field', (transaction, scope) =>
    createField(transaction, scope, operator(), { resource, name, type, label, unique }),
  )
  print(field, options, 'was declared')
}

/** Waits until the values of all records have been read: other processes read them, too. */
export async function fieldUnique(config: Config, id: string, options: FieldOptions): Promise<void> {
  const parsed = parseFieldId(id)
  if (parsed === undefined) throw new Error(`There is no field ${id}.`)
  await changeAccount(config, options.account, 'field', (transaction, scope) =>
    createField(transaction, scope, operator(), { ...parsed, type: 'text', label: '', unique: true }),
  )
  note(`Reading the values of ${id} …`)
  const field = await asOwner(config, async (client) => {
    const scope = await accountNamed(client, options.account)
    const write = <T>(work: (transaction: Transaction) => Promise<T>) => inTransaction(client, work)
    for (;;) {
      const build = await write((transaction) => buildOf(transaction, scope, parsed))
      if (build === undefined) return await write((transaction) => getField(transaction, scope, id))
      await buildKey(write, build, () => false)
      await sleep(1_000)
    }
  })
  if (field.state === 'duplicates')
    throw new Error(
      `While it was built, two records got the same ${id}, so it is not unique. Delete the field, correct the records, and run the command again.`,
    )
  print(field, options, 'is unique')
}

function uniqueText({ unique, state }: OwnField): string {
  return !unique ? '' : state === 'ready' ? 'yes' : state
}

export async function fieldLabel(
  config: Config,
  id: string,
  label: string,
  options: FieldOptions,
): Promise<void> {
  const field = await changeAccount(config, options.account, 'field', (transaction, scope) =>
    changeField(transaction, scope, operator(), id, { label }),
  )
  print(field, options, 'was changed')
}

export async function fieldDelete(config: Config, id: string, options: FieldOptions): Promise<void> {
  await changeAccount(config, options.account, 'field', (transaction, scope) =>
    deleteField(transaction, scope, operator(), id),
  )
  if (options.json === true) printJson({ account: options.account, id, deleted: true })
  else printLine(`Field ${id} of ${options.account} was deleted.`)
}

function print(field: OwnField, { account, json }: FieldOptions, what: string): void {
  if (json === true) printJson({ account, ...field })
  else printLine(`Field ${field.id} of ${account}, ${field.type}, ${what}.`)
}
