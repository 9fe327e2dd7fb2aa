import { memo, useEffect, useState } from 'react'
import type { List } from '../../api/read.ts'
import { grouped } from '../../lib/format.ts'
import { t } from '../../texts/texts.ts'
import { IconButton } from '../button.tsx'
import { Icon } from '../icon.tsx'

export const pageSizes = ['10', '25', '50', '100', '250', '500', '1000']

interface PagerProps {
  readonly list: List | undefined
  readonly isLoading: boolean
  readonly limit: string
  readonly onPage: (page: number) => void
  readonly onLimit: (limit: string) => void
}

export const Pager = memo(function Pager({ list, isLoading, limit, onPage, onLimit }: PagerProps) {
  const current = list?.pagination.currentPage ?? 1
  const pages = list?.pagination.totalPages ?? 0
  const [typed, setTyped] = useState(String(current))
  useEffect(() => setTyped(String(current)), [current])
  const submit = () => {
    const page = Number(typed)
    if (Number.isSafeInteger(page) && page >= 1 && page !== current) onPage(page)
    else setTyped(String(current))
  }
  return (
    <nav className="foot" aria-label={t.list.pagesNav}>
      <span role="status">
        {list === undefined ? isLoading && t.common.loading : <RangeText list={list} limit={limit} />}
      </span>
      <span className="spacer" />
      <label className="row">
        <span className="wide">{t.list.rowsPerPage}</span>
        <select
          aria-label={t.list.rowsPerPage}
          value={limit}
          onChange={(event) => onLimit(event.target.value)}
        >
          {(pageSizes.includes(limit) ? pageSizes : [limit, ...pageSizes]).map((size) => (
            <option key={size}>{size}</option>
          ))}
        </select>
      </label>
      <IconButton
        variant="default"
        aria-label={t.list.previousPage}
        disabled={list?.pagination.previousPage == null}
        onClick={() => onPage(list?.pagination.previousPage ?? 1)}
      >
        <Icon name="left" size={14} />
      </IconButton>
      <span className="row">
        <input
          className="page"
          aria-label={t.list.page}
          inputMode="numeric"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          onBlur={submit}
          onKeyDown={(event) => event.key === 'Enter' && submit()}
        />
        <span className="wide">{list !== undefined && `${t.common.of} ${grouped(pages)}`}</span>
      </span>
      <IconButton
        variant="default"
        aria-label={t.list.nextPage}
        disabled={list?.pagination.nextPage == null}
        onClick={() => onPage(list?.pagination.nextPage ?? 1)}
      >
        <Icon name="right" size={14} />
      </IconButton>
    </nav>
  )
})

/** "51–100 of 10,000" */
function RangeText({ list, limit }: { readonly list: List; readonly limit: string }) {
  const { total, count } = list.meta
  if (count === 0) return <span>{total === 0 ? t.list.noRecords : t.list.noneOnPage(grouped(total))}</span>
  const first = (list.pagination.currentPage - 1) * Number(limit) + 1
  return (
    <span>
      <b>
        {grouped(first)}–{grouped(first + count - 1)}
      </b>{' '}
      {t.common.of} <b>{grouped(total)}</b>
    </span>
  )
}
