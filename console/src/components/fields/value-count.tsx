import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { collections } from '../../api/catalog.ts'
import { problemFrom } from '../../api/exchange.ts'
import { isResource, listQuery } from '../../api/read.ts'
import { grouped } from '../../lib/format.ts'
import { t } from '../../texts/texts.ts'

interface ValueCountProps {
  readonly resource: string
  readonly name: string
}

const pages = { product: '/products', partner: '/partners', company: '/companies' } as const

/** How many records have a value, with a link to them. */
export function ValueCount({ resource, name }: ValueCountProps) {
  const found = Object.values(collections).find((one) => one.name === resource)?.name ?? 'product'
  const collection = isResource(found) ? found : 'product'
  const filter = `${name}!=null`
  const one = { fields: 'id', limit: '1' }
  const having = useQuery(listQuery(collection, { ...one, filter }))
  const all = useQuery(listQuery(collection, one))

  const error = having.error ?? all.error
  if (error !== null) return <span className="dim">{t.fields.countUnknown(problemFrom(error).detail)}</span>
  if (having.data === undefined || all.data === undefined) return <span className="skeleton" />
  const count = having.data.body.meta.total
  return (
    <>
      <Link to={pages[collection]} search={{ filter, fields: `id,name,${name}` }}>
        {t.fields.ofAll(grouped(count), grouped(all.data.body.meta.total), t.nouns[collection].many)}
      </Link>{' '}
      {t.fields.haveValue(count)}
    </>
  )
}
