// biome-ignore-all lint/a11y/useSemanticElements: virtual rows are absolutely positioned, which table elements cannot be
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus, and aria-activedescendant names the row
// biome-ignore-all lint/a11y/useKeyWithClickEvents: the page handles the keys
import { type Range, useVirtualizer } from '@tanstack/react-virtual'
import {
  type CSSProperties,
  type MouseEvent,
  memo,
  type RefObject,
  type UIEvent,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import type { CollectionName, Field } from '../../api/catalog.ts'
import type { Row } from '../../api/read.ts'
import { isNumeric, plainText } from '../../lib/format.ts'
import { isSortable } from '../../lib/labels.ts'
import { useIsPrinting } from '../../lib/printing.ts'
import { readWidths, saveWidths, type Widths, withWidth } from '../../lib/records/column-widths.ts'
import { columnWidths } from '../../lib/records/columns.ts'
import { useIdleAfter } from '../../lib/use-idle-after.ts'
import { valueView } from '../value-view.tsx'
import { GridHead } from './grid-head.tsx'

const rowHeight = 33
/** The height of everything above and below the grid. Only for the first render, after which the grid is measured. */
const aroundGrid = 220
const skeletonRows = Array.from({ length: 14 }, (_, index) => index)
const overscanRows = 6
const noRows: readonly Row[] = []

interface GridProps {
  readonly name: CollectionName
  readonly label: string
  readonly fields: readonly Field[]
  /** Undefined while the first response is awaited. */
  readonly rows: readonly Row[] | undefined
  readonly isRefreshing: boolean
  /** Another one is another list or page, which is read from its top. */
  readonly listKey: string
  readonly sort: string | undefined
  /** -1: none, because the open record is not on this page. */
  readonly selected: number
  /** The position of the first row in the list, from 1. */
  readonly firstRow: number
  readonly total: number
  /** The address of a record. */
  readonly hrefOf: (row: Row) => string | undefined
  readonly onOpen: (index: number) => void
  readonly onSort: (sort: string | undefined) => void
  readonly onMoveColumn: (name: string, before: string) => void
}

/** Rows are virtual: only those in view are in the document. */
export function Grid(props: GridProps) {
  const { name, label, fields, rows, isRefreshing, selected, firstRow, total, hrefOf, onOpen } = props
  const data = rows ?? noRows
  const scroller = useRef<HTMLDivElement>(null)
  const widths = useMemo(() => columnWidths(fields, data, innerWidth), [fields, data])
  const [resized, resize] = useResizedColumns(name)
  const virtualizer = useVirtualRows(scroller, data.length, props)
  const items = virtualizer.getVirtualItems()
  const linkField =
    fields.find((field) => field.name === 'name') ?? fields.find(({ name: one }) => !contact.test(one))
  return (
    <div
      ref={scroller}
      className="grid"
      role="grid"
      aria-label={label}
      aria-rowcount={total + 1}
      aria-colcount={fields.length}
      aria-busy={rows === undefined || isRefreshing}
      aria-activedescendant={data.length > 0 && selected >= 0 ? `row-${selected}` : undefined}
      tabIndex={0}
      style={columnStyle(fields, widths, resized)}
      onScroll={pinColumn}
    >
      {isRefreshing && <div className="refreshing" />}
      <GridHead
        name={name}
        fields={fields}
        sort={props.sort}
        isSortable={(field) => isSortable(name, field)}
        onSort={props.onSort}
        onMoveColumn={props.onMoveColumn}
        onResize={resize}
      />
      {rows === undefined ? (
        <SkeletonRows fields={fields} />
      ) : (
        <div
          className="grid-body"
          role="rowgroup"
          style={{ height: virtualizer.getTotalSize() }}
          onClick={(event) => {
            const index = clickedRow(event)
            if (index !== undefined) onOpen(index)
          }}
        >
          {items.map(({ index, start }) => (
            <GridRow
              key={index % items.length}
              index={index}
              number={firstRow + index + 1}
              top={start - rowHeight}
              isSelected={index === selected}
              fields={fields}
              linkField={linkField?.name}
              href={hrefOf(data[index] ?? {})}
              row={data[index]}
            />
          ))}
        </div>
      )}
    </div>
  )
}

/**
 * The rows in view and around it, always as many, so that each row that leaves is used again for one that comes: new text is
 * cheaper than new elements.
 */
function steadyRange() {
  let fitting = 0
  return ({ startIndex, endIndex, overscan, count }: Range): number[] => {
    fitting = Math.max(fitting, endIndex - startIndex + 1)
    const length = Math.min(fitting + 2 * overscan, count)
    const first = Math.min(Math.max(startIndex - overscan, 0), count - length)
    return Array.from({ length }, (_, index) => first + index)
  }
}

/** Each sticky cell is a layer of its own, so only a list that is scrolled sideways has them. */
function pinColumn({ currentTarget }: UIEvent<HTMLElement>): void {
  currentTarget.toggleAttribute('data-sideways', currentTarget.scrollLeft > 0)
}

/** The rows in view. Another list or page is shown from its top, and the selected row is scrolled into view. */
function useVirtualRows(
  scroller: RefObject<HTMLDivElement | null>,
  count: number,
  { listKey, selected }: Pick<GridProps, 'listKey' | 'selected'>,
) {
  const isIdle = useIdleAfter(count > 0)
  const isPrinting = useIsPrinting()
  const [rangeExtractor] = useState(steadyRange)
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    // Without a size, the first render would have no rows, and a second one would follow.
    initialRect: { width: innerWidth, height: innerHeight - aroundGrid },
    estimateSize: () => rowHeight,
    // The first view shows fewer rows; the others are added before a person can scroll to them.
    // Paper shows all of them.
    overscan: isPrinting ? count : isIdle ? overscanRows : 1,
    rangeExtractor,
    scrollMargin: rowHeight,
    // The header covers the first row's height.
    scrollPaddingStart: rowHeight,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever another list or page is shown
  useEffect(() => {
    if (scroller.current !== null) scroller.current.scrollTop = 0
  }, [listKey])
  const scrolledTo = useRef(0)
  useEffect(() => {
    if (count === 0 || selected < 0 || scrolledTo.current === selected) return
    scrolledTo.current = selected
    virtualizer.scrollToIndex(selected, { align: 'auto' })
  }, [selected, count, virtualizer])
  return virtualizer
}

/** Cells with a link of their own. */
const contact = /mail|phone|mobile|tel/

/** The row to open. None if a person selects text, uses another link, or opens the row's link in a new tab. */
function clickedRow(event: MouseEvent): number | undefined {
  const { target } = event
  if (!(target instanceof Element) || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
    return undefined
  const link = target.closest('a')
  if (link !== null && !link.matches('.row-link')) return undefined
  if (link !== null) event.preventDefault()
  if (getSelection()?.isCollapsed === false) return undefined
  const row = target.closest('[data-index]')
  return row === null ? undefined : Number(row.getAttribute('data-index'))
}

/** The widths that a person chose, kept in this browser. */
function useResizedColumns(name: CollectionName) {
  const [resized, setResized] = useState<Widths>(() => readWidths(name))
  const resize = (column: string, width: number | undefined) => {
    const next = withWidth(resized, column, width)
    setResized(next)
    saveWidths(name, next)
  }
  return [resized, resize] as const
}

interface GridRowProps {
  readonly index: number
  readonly number: number
  readonly top: number
  readonly isSelected: boolean
  readonly fields: readonly Field[]
  /** The field whose value links to the record. */
  readonly linkField: string | undefined
  readonly href: string | undefined
  readonly row: Row | undefined
}

/** Memoized: scrolling renders only the rows that come into view. */
const GridRow = memo(function GridRow(props: GridRowProps) {
  const { index, number, top, isSelected, fields, linkField, href, row } = props
  return (
    <div
      id={`row-${index}`}
      data-index={index}
      role="row"
      className="grid-row"
      aria-rowindex={number}
      aria-selected={isSelected}
      style={{ transform: `translateY(${top}px)` }}
    >
      {fields.map((field) => {
        const value = row?.[field.name]
        const text = plainText(value)
        return (
          <div
            key={field.name}
            role="gridcell"
            data-align={isNumeric(field.type) ? 'end' : undefined}
            title={text.length > 40 ? text : undefined}
          >
            {field.name === linkField && href !== undefined ? (
              <a className="row-link" href={href} tabIndex={-1} draggable={false}>
                {valueView(field, value)}
              </a>
            ) : (
              valueView(field, value)
            )}
          </div>
        )
      })}
    </div>
  )
})

/** Columns take the width of their contents; a text column takes the space that is left. */
function columnStyle(fields: readonly Field[], natural: readonly number[], resized: Widths): CSSProperties {
  const widths = fields.map(({ name }, index) => resized[name] ?? natural[index] ?? 0)
  const columns = fields.map(({ name }, index) => {
    const width = widths[index] ?? 0
    return `minmax(${width}px, ${resized[name] === undefined && width > 120 ? `${width}fr` : `${width}px`})`
  })
  const rowWidth = widths.reduce((sum, width) => sum + width, 0)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- React does not type custom properties
  return { '--columns': columns.join(' '), '--row-width': `${rowWidth}px` } as CSSProperties
}

function SkeletonRows({ fields }: { readonly fields: readonly Field[] }) {
  return (
    <div className="grid-body" aria-hidden="true" data-testid="skeleton">
      {skeletonRows.map((index) => (
        <div key={index} className="grid-row" style={{ top: index * rowHeight }}>
          {fields.map(({ name, type }) => (
            <div key={name} data-align={isNumeric(type) ? 'end' : undefined}>
              <span className="skeleton" />
            </div>
          ))}
        </div>
      ))}
    </div>
  )
}
