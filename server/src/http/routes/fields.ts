import type { FastifyReply, FastifyRequest } from 'fastify'
import { containsKey, containsKeyMessage } from '../../accounts/key-format.ts'
import type { FieldType } from '../../catalog/field.ts'
import { isOwnFieldName } from '../../catalog/own-fields.ts'
import { type ResourceName, resources } from '../../catalog/resources.ts'
import { views } from '../../catalog/views.ts'
import { excerpt, Faults } from '../../errors/faults.ts'
import { buildKey, type KeyBuild } from '../../fields/key-build.ts'
import {
  buildOf,
  changeField,
  createField,
  deleteField,
  getField,
  type NewField,
  type OwnField,
  parseFieldId,
  uniqueCandidates,
  uniqueTypes,
} from '../../fields/manage-fields.ts'
import { limits } from '../../limits/limits.ts'
import type { Database } from '../../postgres/database.ts'
import type { Transaction } from '../../postgres/transaction.ts'
import type { AccountScope } from '../../scope.ts'
import {
  bodyContent,
  bodySchemas,
  createdHeaders,
  jsonResponse,
  respondsWith,
  responseHeaders,
} from '../openapi/parts.ts'
import { curl, sendsJson } from '../openapi/samples.ts'
import { exampleRecord } from '../openapi/schemas.ts'
import { viewPath } from '../paths.ts'
import { contextOf } from '../plugins/request-context.ts'
import {
  addUnknownMembers,
  type BodyShape,
  type JsonBody,
  jsonBody,
  kindOf,
  rejectBody,
} from '../request/body.ts'
import { sendCreated, sendUncached } from '../respond.ts'
import { administrationOf } from './administration.ts'
import type { Route } from './route.ts'
import { oneViewRoute } from './views.ts'

/** Routes that read and change the fields that an account has declared. `views.ts` has their list. */

const tag = 'Fields'
const path = viewPath(views.field)
const fieldPath = `${path}/{field_id}`
const example = exampleRecord(views.field)
const types: readonly FieldType[] = ['text', 'integer', 'decimal', 'boolean', 'timestamp']
const resourceNames = Object.keys(resources)

const candidates = Object.values(resources).flatMap(({ name }) => uniqueCandidates(name))

const label = {
  type: 'string',
  maxLength: limits.fieldLabelCharactersMax,
  description: 'For people: what the field means. Default: the empty text.',
}

const createShape: BodyShape = {
  name: 'NewFieldRequest',
  title: 'New field request',
  members: {
    resource: { type: 'string', enum: resourceNames },
    name: {
      type: 'string',
      pattern: `^(x_[a-z][a-z0-9_]{0,58}|${candidates.join('|')})$`,
      description:
        'Begins with `x_`. Or the name of a field that every account has, to make it unique: `default_code` of a product, `email` of a partner, `company_code` of a company.',
    },
    type: {
      type: 'string',
      enum: types,
      description: 'Required, except to make a field unique that every account has.',
    },
    label,
    unique: {
      type: 'boolean',
      default: false,
      description: 'Whether no two records may have the same value: a text or an integer.',
    },
  },
  required: ['resource', 'name'],
  what: 'A field is declared by resource, name, type, label and unique',
  example: '{"resource":"product","name":"x_barcode","type":"text"}',
}

const changeShape: BodyShape = {
  name: 'FieldChange',
  title: 'Field change',
  members: { label },
  required: ['label'],
  what: 'Only the label of a field can be changed',
  example: '{"label":"Barcode"}',
}

const fieldResponse = jsonResponse('The field.', 'FieldResponse', { data: example })

export const fieldRoute = oneViewRoute({
  view: views.field,
  tag,
  path: fieldPath,
  parameter: 'fieldId',
  samplePath: `${path}/$FIELD_ID`,
  idField: 'id',
  isId: (id) => parseFieldId(id) !== undefined,
})

export const createFieldRoute: Route = {
  methods: ['POST'],
  path,
  scopes: ['account:manage'],
  bodies: ['application/json'],
  operation: {
    operationId: 'create_field',
    tag,
    summary: 'Declare a field',
    samples: [
      curl(
        '',
        path,
        sendsJson,
        `-d '{"resource":"partner","name":"x_vat","type":"text","label":"VAT number"}'`,
      ),
    ],
    description:
      'From the next request on, records of the resource have the field, with null until it is set. It is a write to the resource: its version changes.\n\n' +
      'Records can be addressed by a unique field, `…/product/x_sku/4711`, and batches can name them by it. If the values of a field that every account has are not unique, the response is 409 ' +
      '`values_not_unique` with the first of them. Until the values of all records have been read, its `state` is `building`: in most cases a few milliseconds, and half a minute for the first field of an account.',
    body: bodyContent(createShape, { resource: 'company', name: 'x_region', type: 'text', label: 'Region' }),
    responses: {
      '201': { ...fieldResponse, headers: createdHeaders('field') },
      ...respondsWith('invalid', 'fieldConflict', 'tooLarge'),
    },
    schemas: bodySchemas(createShape),
  },
  handler: (parts) => async (request, reply) => {
    const { access, actor, write } = administrationOf(request, reply, parts)
    const created = newFieldOf(request)
    const field = await write(async (transaction) => {
      const declared = await createField(transaction, access, actor, created)
      return { declared, build: await buildOf(transaction, access, declared) }
    }).then(({ declared, build }) =>
      build === undefined ? declared : built(parts.database, access, declared, build),
    )
    contextOf(request).records = 1
    return sendCreated(reply.header('cache-control', 'no-store'), `${path}/${field.id}`, bodyWith(field))
  },
}

export const changeFieldRoute: Route = {
  methods: ['PATCH'],
  path: fieldPath,
  scopes: ['account:manage'],
  bodies: ['application/json'],
  operation: {
    operationId: 'change_field',
    tag,
    summary: 'Change the label of a field',
    samples: [curl(' -X PATCH', `${path}/$FIELD_ID`, sendsJson, `-d '${changeShape.example}'`)],
    parameters: ['fieldId'],
    body: bodyContent(changeShape),
    responses: { '200': fieldResponse, ...respondsWith('invalid', 'notFound', 'fieldConflict', 'tooLarge') },
    schemas: bodySchemas(changeShape),
  },
  handler: (parts) => async (request, reply) => {
    const { access, actor, id, write } = administrationOf(request, reply, parts)
    const faults = new Faults()
    const body = jsonBody(request, changeShape)
    addUnknownMembers(body, changeShape, faults)
    const change = { label: labelIn(body, faults, true) }
    faults.throwIfAny('body_invalid')
    const field = await write((transaction) => changeField(transaction, access, actor, id, change))
    return sendField(reply, field)
  },
}

export const deleteFieldRoute: Route = {
  methods: ['DELETE'],
  path: fieldPath,
  scopes: ['account:manage'],
  operation: {
    operationId: 'delete_field',
    tag,
    summary: 'Delete a field',
    samples: [curl(' -X DELETE', `${path}/$FIELD_ID`)],
    description:
      'Requests no longer see its values; the database removes them an hour later. If you declare the same name again, it begins with null.',
    parameters: ['fieldId'],
    responses: {
      '204': { description: 'The field is deleted. There is no body.', headers: responseHeaders },
      ...respondsWith('invalid', 'notFound'),
    },
  },
  handler: (parts) => async (request, reply) => {
    const { access, actor, id, write } = administrationOf(request, reply, parts)
    rejectBody(request, 'A deletion')
    await write((transaction) => deleteField(transaction, access, actor, id))
    contextOf(request).records = 1
    return reply.code(204).header('cache-control', 'no-store').send()
  },
}

/** Reads the values of the field's records for a while. The sweep of any process reads the rest. */
async function built(
  database: Database,
  scope: AccountScope,
  { id }: OwnField,
  build: KeyBuild,
): Promise<OwnField> {
  const until = performance.now() + limits.keyBuildMsMax
  const write = <T>(work: (transaction: Transaction) => Promise<T>) => database.writeTo(scope, work)
  await buildKey(write, build, () => performance.now() > until)
  return await write((transaction) => getField(transaction, scope, id))
}

function sendField(reply: FastifyReply, field: OwnField): FastifyReply {
  contextOf(reply.request).records = 1
  return sendUncached(reply, bodyWith(field))
}

function bodyWith(field: OwnField): string {
  const { id, resource, name, type, label: text, unique, state, created_at } = field
  return JSON.stringify({ data: { id, resource, name, type, label: text, unique, state, created_at } })
}

function newFieldOf(request: FastifyRequest): NewField {
  const body = jsonBody(request, createShape)
  const faults = new Faults()
  addUnknownMembers(body, createShape, faults)
  const resource = oneOf<ResourceName>(
    body,
    'resource',
    Object.values(resources).map(({ name }) => name),
    faults,
  )
  const name = nameIn(body, resource, faults)
  const created = {
    resource,
    name,
    type: typeIn(body, resource, name, faults),
    label: labelIn(body, faults, false),
    unique: body['unique'] === true,
  }
  addUniqueFaults(body, created, faults)
  faults.throwIfAny('body_invalid')
  return created
}

/** A field that every account has keeps its type. */
function typeIn(body: JsonBody, resource: ResourceName, name: string, faults: Faults): FieldType {
  const field = resources[resource].fields.find((one) => one.name === name)
  if (field === undefined) return oneOf<FieldType>(body, 'type', types, faults)
  return body['type'] === undefined ? field.type : oneOf<FieldType>(body, 'type', [field.type], faults)
}

function addUniqueFaults(body: JsonBody, { name, type, unique }: NewField, faults: Faults): void {
  const given = body['unique']
  if (given !== undefined && typeof given !== 'boolean')
    addFault(faults, 'unique', given, 'must be true or false', ['true', 'false'])
  else if (unique && !uniqueTypes.includes(type))
    addFault(faults, 'unique', given, `is only possible for ${uniqueTypes.join(' and ')}`, ['false'])
  else if (!unique && candidates.includes(name))
    addFault(faults, 'unique', given, `must be true: every account has the field ${name}`, ['true'])
}

function oneOf<Of extends string>(body: JsonBody, member: string, values: readonly Of[], faults: Faults): Of {
  const found = values.find((each) => each === body[member])
  if (found !== undefined) return found
  addFault(faults, member, body[member], `must be one of ${values.join(', ')}`, values)
  const [first] = values
  if (first === undefined) throw new Error(`${member} has no values`)
  return first
}

function nameIn(body: JsonBody, resource: ResourceName, faults: Faults): string {
  const { name } = body
  const existing = uniqueCandidates(resource)
  if (typeof name === 'string' && (isOwnFieldName(name) || existing.includes(name))) return name
  const rule =
    'must begin with x_ and a lowercase letter, and have only a-z, 0-9 and _, at most 61 characters' +
    (existing.length === 0 ? '' : `; or be ${existing.join(' or ')}, to make it unique`)
  addFault(faults, 'name', name, rule, ['a name such as x_barcode', ...existing])
  return ''
}

function labelIn(body: JsonBody, faults: Faults, isRequired: boolean): string {
  const text = body['label'] ?? (isRequired ? undefined : '')
  const max = limits.fieldLabelCharactersMax
  const expected = [`a text of at most ${max} characters`]
  if (typeof text !== 'string' || Array.from(text).length > max)
    addFault(faults, 'label', text, `must be a text of at most ${max} characters`, expected)
  else if (containsKey(text))
    faults.add(() => ({
      pointer: '/label',
      code: 'member_invalid',
      message: `The label ${containsKeyMessage}`,
      expected,
    }))
  // After the test for a key: a regular expression would retain it.
  else if (/\p{Cc}/u.test(text) || !text.isWellFormed())
    addFault(faults, 'label', text, 'must have no control character and no unpaired surrogate', expected)
  else return text
  return ''
}

function addFault(
  faults: Faults,
  member: string,
  given: unknown,
  rule: string,
  expected: readonly string[],
): void {
  const is = typeof given === 'string' ? `"${excerpt(given)}"` : kindOf(given)
  faults.add(() => ({
    pointer: `/${member}`,
    code: given === undefined ? 'member_required' : 'member_invalid',
    message: given === undefined ? `${member} is missing. It ${rule}.` : `${member} ${rule}; it is ${is}.`,
    expected,
  }))
}
