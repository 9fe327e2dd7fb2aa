import type { Field } from '../../catalog/field.ts'
import type { Resource, ResourceName } from '../../catalog/resources.ts'
import { Failure } from '../../errors/errors.ts'
import { limits } from '../../limits/limits.ts'
import { groupUnits, planSummary, typesOf } from '../../query/summary-plan.ts'
import { type Aggregate, aggregates, parseSummaryRequest } from '../../query/summary-request.ts'
import {
  badRequest,
  cachedHeaders,
  filterParameter,
  invalidResponse,
  resourceTag,
  respondsWith,
  unknownField,
} from '../openapi/parts.ts'
import { curl, type Sample, typescript } from '../openapi/samples.ts'
import { propertiesOf, ref, type Schema, schemaName } from '../openapi/schemas.ts'
import { summaryPath } from '../paths.ts'
import { verifiedFor } from '../plugins/authenticate.ts'
import { contextOf, recordSource, timed } from '../plugins/request-context.ts'
import { formMediaType } from '../request/body.ts'
import { matchingEtag, sendNotModified, sendRead } from '../respond.ts'
import { rawParameters } from './list.ts'
import { type Handler, listMethods, type Route, type RouteParts } from './route.ts'

/** Numbers, sums, minima, maxima and averages of the records that match a filter, in groups. */
export function summaryRoute(resource: Resource): Route {
  const { name, plural } = resource
  return {
    methods: listMethods,
    path: summaryPath(resource),
    scopes: [`${name}:read`],
    resource: name,
    bodies: [formMediaType],
    operation: {
      operationId: `summarize_${plural}`,
      tag: resourceTag(resource),
      summary: `Summarize ${plural}`,
      samples: samplesOf(resource),
      description,
      parameters: [
        filterParameter(resource),
        groupParameter(resource),
        ...aggregates.map((aggregate) => aggregateParameter(resource, aggregate)),
        'ifNoneMatch',
      ],
      responses: {
        '200': {
          description: 'The groups, in the order of their values; null is last.',
          headers: cachedHeaders,
          content: {
            'application/json': {
              schema: ref('schemas', `${schemaName(resource)}Summary`),
              examples: examplesOf(resource),
            },
          },
        },
        '400': invalidResponse(badRequests(resource)),
        ...respondsWith('notModified', 'late'),
      },
      schemas: schemasOf(resource),
    },
    handler: (parts) => summaryHandler(parts, resource),
  }
}

function summaryHandler(parts: RouteParts, route: Resource): Handler {
  const { accountReads, definitions, plans, summaryReader, responseCache } = parts
  return async (request, reply) => {
    const verified = verifiedFor(request)
    const found = definitions.of(verified.access, route, verified.tally.schema)
    const resource = found instanceof Promise ? await found : found
    const [raw, source] = rawParameters(request)
    const admit = () => accountReads.rejectIfFull(verified.access, raw.length)
    const summary = plans.summary(resource, raw, source, admit)
    const context = contextOf(request)
    const etag = matchingEtag(request, verified.tally, summary.requestHash)
    if (etag !== undefined) {
      context.source = 'unchanged'
      return sendNotModified(reply, etag)
    }
    const read = (signal: AbortSignal) => {
      context.source = 'read'
      return timed(request, () => summaryReader.read(verified, summary, signal))
    }
    const response = await recordSource(
      request,
      responseCache.get(verified, summary.requestHash, read, reply.raw),
    )
    context.records = response.records
    return sendRead(request, reply, response)
  }
}

const description = `The records that match the filter, counted in groups of equal values, with the sum, minimum, maximum and average of other
fields. All numbers are exact and come from one snapshot. Without \`group\`, all records are one group.

A sum of no values is 0; a minimum, maximum or average of no values is null. Null values do not count. An average is rounded to
${limits.decimalFractionDigitsMax} digits after the decimal point. More than ${limits.summaryGroupsMax} groups are a 400 that says how many there are.`

interface SampleFields {
  readonly group: string
  readonly sum?: string
}

const sampleFields: Record<ResourceName, SampleFields> = {
  product: { group: 'categ_id', sum: 'qty_available' },
  partner: { group: 'create_date:month' },
  company: { group: 'create_date:month' },
}

function samplesOf(resource: Resource): readonly Sample[] {
  const { name, plural } = resource
  const { group, sum } = sampleFields[name]
  const isSummed = sum !== undefined
  return [
    curl(
      ' -G',
      summaryPath(resource),
      `--data 'group=${group}'`,
      ...(isSummed ? [`--data 'sum=${sum}'`] : []),
    ),
    typescript(
      `const { data } = await qm.${plural}.summary({ group: ['${group}']${isSummed ? `, sum: ['${sum}']` : ''} })`,
      isSummed
        ? `for (const { group, count, sum } of data) console.log(group.${group}, count, sum.${sum})`
        : 'for (const { group, count } of data) console.log(group.create_date, count)',
    ),
  ]
}

function examplesOf({ name }: Resource): Readonly<Record<string, object>> {
  const { group, sum } = sampleFields[name]
  const grouped =
    sum === undefined
      ? { group: { create_date: '2026-03-01' }, count: 12 }
      : { group: { [group]: 7 }, count: 12, sum: { [sum]: 310.5 } }
  const example = (summary: string, one: object) => ({
    summary,
    value: { data: [one], meta: { count: 1, total: 12 } },
  })
  return {
    groups: example('With `group`', grouped),
    all: example('Without `group`', { group: {}, count: 12 }),
  }
}

/** A field that does not exist, and one that is no number. */
function badRequests(resource: Resource) {
  const fault = unknownField(resource.noun)
  const unknown = new Failure('request_invalid', fault.message, [fault])
  return {
    unknown_field: badRequest('A field that does not exist', 'filter=nane=Bolt', unknown),
    not_a_number: badRequest('The sum of a text', 'sum=name', failureOf(resource, 'sum=name')),
  }
}

function failureOf(resource: Resource, query: string): Failure {
  try {
    planSummary(resource, parseSummaryRequest(query, 'url'))
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
  throw new Error(`${query} is valid`)
}

function groupParameter({ fields }: Resource): object {
  const times = fields.filter(({ type }) => type === 'timestamp').map(({ name }) => name)
  return {
    name: 'group',
    in: 'query',
    description:
      `Up to ${limits.summaryGroupFieldsMax} fields, separated by commas. A timestamp (${times.join(', ')}) has a unit of time: ` +
      `\`${times[0]}:${groupUnits.join(`\`, \`${times[0]}:`)}\`, in UTC; a week begins on Monday. Default: none.`,
    schema: { type: 'string' },
    example: `${times[0]}:month`,
  }
}

const nouns: Record<Aggregate, string> = {
  sum: 'are added up',
  min: 'lowest values are returned',
  max: 'highest values are returned',
  avg: 'average is returned',
}

function aggregateParameter(resource: Resource, aggregate: Aggregate): object {
  const names = aggregatedBy(resource, aggregate).map(({ name }) => name)
  return {
    name: aggregate,
    in: 'query',
    description: `The fields whose ${aggregate === 'sum' ? 'values ' : ''}${nouns[aggregate]}, separated by commas: ${names.join(', ')}.`,
    schema: { type: 'string' },
    example: names.includes('qty_available') ? 'qty_available' : names[0],
  }
}

function aggregatedBy({ fields }: Resource, aggregate: Aggregate): readonly Field[] {
  return fields.filter(({ type }) => typesOf[aggregate].includes(type))
}

function schemasOf(resource: Resource): Record<string, Schema> {
  const name = schemaName(resource)
  const { noun, plural, fields } = resource
  const title = `${noun.charAt(0).toUpperCase()}${noun.slice(1)}`
  return {
    [`${name}Summary`]: {
      type: 'object',
      title: `Summary of ${plural}`,
      required: ['data', 'meta'],
      properties: {
        data: { type: 'array', items: ref('schemas', `${name}Group`) },
        meta: ref('schemas', 'SummaryMeta'),
      },
    },
    [`${name}Group`]: {
      type: 'object',
      title: `${title} group`,
      description: `The ${plural} with the same values of the fields in \`group\`.`,
      required: ['group', 'count'],
      properties: {
        group: membersOf('The values of the fields in `group`.', groupProperties(fields)),
        count: { type: 'integer', minimum: 0, description: `The number of ${plural} in the group.` },
        ...Object.fromEntries(
          aggregates.map((aggregate) => [
            aggregate,
            membersOf(
              `Of the fields in the parameter \`${aggregate}\`, if there is one.`,
              aggregateProperties(resource, aggregate),
            ),
          ]),
        ),
      },
      additionalProperties: false,
    },
    SummaryMeta: {
      type: 'object',
      title: 'Counts of a summary',
      required: ['count', 'total'],
      properties: {
        count: { type: 'integer', minimum: 0, description: 'Groups in this response.' },
        total: {
          type: 'integer',
          minimum: 0,
          description: 'The exact number of records that match the filter.',
        },
      },
    },
  }
}

const membersOf = (what: string, properties: Schema): Schema => ({
  type: 'object',
  description: what,
  properties,
  additionalProperties: false,
})

function groupProperties(fields: readonly Field[]): Record<string, Schema> {
  const times = fields.filter(({ type }) => type === 'timestamp')
  const days = times.map(({ name, nullable }) => [
    name,
    {
      type: nullable ? ['string', 'null'] : 'string',
      format: 'date',
      description: 'The first day of the day, week or month.',
      examples: ['2026-03-01'],
    },
  ])
  return { ...propertiesOf(fields), ...Object.fromEntries(days) }
}

/** A sum may exceed the range of its field, and an average is a decimal. */
function aggregateProperties(resource: Resource, aggregate: Aggregate): Record<string, Schema> {
  const fields = aggregatedBy(resource, aggregate)
  if (aggregate === 'min' || aggregate === 'max')
    return propertiesOf(fields.map((field) => ({ ...field, nullable: true })))
  const type = aggregate === 'sum' ? 'number' : ['number', 'null']
  return Object.fromEntries(fields.map(({ name }) => [name, { type }]))
}
