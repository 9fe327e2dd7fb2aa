import type { Config } from '../../config/config.ts'
import {
  changeField,
  createField,
  deleteField,
  listFields,
  type NewField,
  type OwnField,
} from '../../fields/manage-fields.ts'
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
      ['ID', 'TYPE', 'CREATED', 'LABEL'],
      fields.map(({ id, type, created_at, label }) => [id, type, created_at, label]),
    )
}

export async function fieldCreate(config: Config, options: CreateFieldOptions): Promise<void> {
  const { account, resource, name, type, label } = options
  const field = await changeAccount(config, account, 'field', (transaction, scope) =>
    createField(transaction, scope, operator(), { resource, name, type, label }),
  )
  print(field, options, 'was declared')
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
