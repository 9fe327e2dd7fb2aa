import type { CollectionName } from '../api/catalog.ts'

/** How a list is presented: its title, and the columns if the URL names none. */
interface Presentation {
  readonly title: string
  readonly fields?: string
  /** The field that identifies a row; none if rows have no record of their own. */
  readonly idField: string | undefined
}

export const presentations: Readonly<Record<CollectionName, Presentation>> = {
  product: { title: 'Products', idField: 'id' },
  partner: { title: 'Partners', idField: 'id' },
  company: { title: 'Companies', idField: 'id' },
  key: {
    title: 'Keys',
    fields: 'key_id,name,state,last_used_on,expires_at,scopes,created_at',
    idField: 'key_id',
  },
  audit: { title: 'Audit', fields: 'id,at,action,subject,details,actor,actor_id,address', idField: 'id' },
  request: {
    title: 'Requests',
    fields: 'id,at,status,method,path,filter,duration_ms,cached,records,key_id,error_code',
    idField: 'id',
  },
  usage: { title: 'Usage', idField: undefined },
}
