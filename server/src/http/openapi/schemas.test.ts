import { describe, expect, it } from 'vitest'
import { resources } from '../../catalog/resources.ts'
import { openApi } from './document.ts'
import { recordSchema } from './schemas.ts'

describe('the OpenAPI document', () => {
  it('has every field of the catalog with its type', () => {
    const { properties } = recordSchema(resources.product)
    expect(Object.entries(properties).map(([name, schema]) => [name, schema['type']])).toEqual([
      ['id', 'integer'],
      ['name', 'string'],
      ['default_code', ['string', 'null']],
      ['list_price', 'number'],
      ['qty_available', 'number'],
      ['active', 'boolean'],
      ['categ_id', ['integer', 'null']],
      ['product_tmpl_id', ['integer', 'null']],
      ['is_rsd_product', ['boolean', 'null']],
      ['create_date', 'string'],
      ['write_date', 'string'],
    ])
  })

  it('gives each body and each response one type, so that generated clients can send and parse it', () => {
    interface Content {
      readonly content?: Readonly<Record<string, { readonly schema: object }>>
    }
    interface Operation {
      readonly operationId: string
      readonly requestBody?: Content
      readonly responses: Readonly<Record<string, Content>>
    }
    const { paths }: { paths: Record<string, Record<string, Operation>> } = JSON.parse(
      JSON.stringify(openApi),
    )
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
    const typesOf = ({ content = {} }: Content) =>
      new Set(Object.values(content).map(({ schema }) => JSON.stringify(schema))).size
    const several = operations.filter(({ requestBody = {}, responses }) =>
      [requestBody, ...Object.values(responses)].some((one) => typesOf(one) > 1),
    )
    expect(several.map(({ operationId }) => operationId)).toEqual([])
    expect(operations.filter(({ requestBody = {} }) => typesOf(requestBody) === 1).length).toBeGreaterThan(15)
  })

  it('has the paths of the service', () => {
    expect(Object.keys(openApi.paths).toSorted()).toEqual([
      '/api/v1/inventory/product',
      '/api/v1/inventory/product/batch',
      '/api/v1/inventory/product/changes',
      '/api/v1/inventory/product/summary',
      '/api/v1/inventory/product/{id}',
      '/api/v1/inventory/product/{id}/adjust',
      '/api/v1/inventory/product/{key}/{value}',
      '/api/v1/inventory/product/{key}/{value}/adjust',
      '/api/v1/resources/company',
      '/api/v1/resources/company/batch',
      '/api/v1/resources/company/changes',
      '/api/v1/resources/company/summary',
      '/api/v1/resources/company/{id}',
      '/api/v1/resources/company/{key}/{value}',
      '/api/v1/resources/partner',
      '/api/v1/resources/partner/batch',
      '/api/v1/resources/partner/changes',
      '/api/v1/resources/partner/summary',
      '/api/v1/resources/partner/{id}',
      '/api/v1/resources/partner/{key}/{value}',
      '/livez',
      '/manage/v1/audit',
      '/manage/v1/cors',
      '/manage/v1/deliveries',
      '/manage/v1/fields',
      '/manage/v1/fields/{field_id}',
      '/manage/v1/keys',
      '/manage/v1/keys/{key_id}',
      '/manage/v1/keys/{key_id}/revoke',
      '/manage/v1/keys/{key_id}/rotate',
      '/manage/v1/requests',
      '/manage/v1/self',
      '/manage/v1/usage',
      '/manage/v1/webhooks',
      '/manage/v1/webhooks/{webhook_id}',
      '/manage/v1/webhooks/{webhook_id}/activate',
      '/manage/v1/webhooks/{webhook_id}/pause',
      '/manage/v1/webhooks/{webhook_id}/replay',
      '/manage/v1/webhooks/{webhook_id}/rotate',
      '/manage/v1/webhooks/{webhook_id}/test',
      '/readyz',
    ])
  })
})
