import type { CollectionName } from '../../api/catalog.ts'

/** How a list is presented: the columns if the URL names none. */
interface Presentation {
  readonly fields?: string
  /** A filter that works, for the empty filter bar. */
  readonly example: string
  /** The field that a bare word is looked for in. None: the service searches every text field. */
  readonly searchField?: string
  /** The field that identifies a row; none if rows have no record of their own. */
  readonly idField: string | undefined
}

export const presentations: Readonly<Record<CollectionName, Presentation>> = {
  product: { example: 'list_price>10&active=true', idField: 'id' },
  partner: { example: 'is_customer=true&name*gmbh', idField: 'id' },
  company: { example: 'name*trading', idField: 'id' },
  key: {
    searchField: 'name',
    example: 'state=active&last_used_on<2026-08-01',
    fields: 'name,scopes,state,last_used_on,expires_at,created_at,key_id',
    idField: 'key_id',
  },
  audit: {
    searchField: 'details',
    example: 'action=key.revoke&at>=2026-11-01',
    fields: 'at,action,subject,details,actor,actor_id,address,id',
    idField: 'id',
  },
  request: {
    searchField: 'path',
    example: 'status>=400|duration_ms>100',
    fields: 'at,status,method,path,duration_ms,filter,error_code,cached,records,key_id,id',
    idField: 'id',
  },
  usage: { example: 'requests>10', idField: undefined },
  webhook: {
    searchField: 'url',
    example: 'status!=active',
    fields: 'resource,url,status,reason,delivered_version,failures,created_at,id',
    idField: 'id',
  },
  delivery: {
    searchField: 'error',
    example: 'error!=null&at>=2026-11-01',
    fields: 'at,kind,status,error,changes,duration_ms,webhook_id,message_id,to_version,id',
    idField: 'id',
  },
  field: {
    searchField: 'name',
    example: 'resource=product',
    fields: 'resource,name,label,type,unique,state,created_at,id',
    idField: 'id',
  },
}
