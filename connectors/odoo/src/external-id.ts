/** No module of Odoo has this name: an update of a module deletes what has its name and is not part of it. */
const prefix = 'quartermaster'

/**
 * The external id of a partner that was born here. It names the record and when it was created, in milliseconds: an account that was created
 * anew counts its ids from 1 again, and its partners are not those of the old one.
 */
export function externalIdOf(id: number, createDate: unknown): string {
  return `${prefix}.partner_${id}_${Date.parse(String(createDate)).toString(36)}`
}

/** The id of the record here; undefined if the external id is not one of ours. */
export function recordIdOf(externalId: string | false): number | undefined {
  const id = /^quartermaster\.partner_(\d+)_[a-z0-9]+$/.exec(externalId === false ? '' : externalId)?.[1]
  return id === undefined ? undefined : Number(id)
}
