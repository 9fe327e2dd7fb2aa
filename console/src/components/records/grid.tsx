// biome-ignore-all lint/a11y/useSemanticElements: virtual rows are absolutely positioned, which table elements cannot be
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus, and aria-activedescendant names the row
// biome-ignore-all lint/a11y/useKeyWithClickEvents: the page handles the keys
import { useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, memo, useEffect, useMemo, useRef, useState } from 'react'
import type { Field } from '../../api/catalog.ts'
import type { Row } from '../../api/read.ts'
import { isNumeric, plainText } from '../../lib/format.ts'
import { columnWidths } from '../../lib/records/columns.ts'
import { useIdleAfter } from '../../lib/use-idle-after.ts'
import { valueView } from '../value-view.tsx'

const rowHeight = 33
/** The height of everything above and below the grid. Only for the first render, after which the grid is measured. */
const aroundGrid = 220
const skeletonRows = Array.from({ length: 14 }, (_, index) => index)
const overscanRows = 6
const noRows: readonly Row[] = []

interface GridProps {
  readonly label: string
  readonly fields: readonly Field[]
  /** Undefined while the first response is awaited. */
  readonly rows: readonly Row[] | undefined
  readonly isRefreshing: boolean
  readonly selected: number
  /** The position of the first row in the list, from 1. */
  readonly firstRow: number
  readonly total: number
  readonly onSelect: (index: number) => void
  readonly onOpen: (index: number) => void
  readonly onMoveColumn: (name: string, before: string) => void
}

/** Rows are virtual: only those in view are in the document. */
export function Grid(props: GridProps) {
  const { label, fields, rows, isRefreshing, selected, firstRow, total, onSelect, onOpen } = props
  const data = rows ?? noRows
  const scroller = useRef<HTMLDivElement>(null)
  const widths = useMemo(() => columnWidths(fields, data, innerWidth), [fields, data])
  const isIdle = useIdleAfter(data.length > 0)
  const virtualizer = useVirtualizer({
    count: data.length,
    getScrollElement: () => scroller.current,
    // Without a size, the first render would have no rows, and a second one would follow.
    initialRect: { width: innerWidth, height: innerHeight - aroundGrid },
    estimateSize: () => rowHeight,
    // The first view shows fewer rows; the others are added before a person can scroll to them.
    overscan: isIdle ? overscanRows : 1,
    scrollMargin: rowHeight,
  })
  const scrolledTo = useRef(0)
  useEffect(() => {
    if (data.length === 0 || scrolledTo.current === selected) return
    scrolledTo.current = selected
    virtualizer.scrollToIndex(selected, { align: 'auto' })
  }, [selected, data.length, virtualizer])
  return (
    <div
      ref={scroller}
      className="grid"
      role="grid"
      aria-label={label}
      aria-rowcount={total + 1}
      aria-colcount={fields.length}
      aria-busy={rows === undefined || isRefreshing}
      aria-activedescendant={data.length > 0 ? `row-${selected}` : undefined}
      tabIndex={0}
      style={columnStyle(widths)}
    >
      {isRefreshing && <div className="refreshing" />}
      <GridHead {...props} />
      {rows === undefined ? (
        <SkeletonRows fields={fields} />
      ) : (
        <div
          className="grid-body"
          role="rowgroup"
          style={{ height: virtualizer.getTotalSize() }}
          onClick={(event) => {
            const index = rowIndexOf(event.target)
            if (index === undefined) return
            onSelect(index)
            onOpen(index)
          }}
        >
          {virtualizer.getVirtualItems().map(({ index, start }) => (
            <GridRow
              key={index}
              index={index}
              number={firstRow + index + 1}
              top={start - rowHeight}
              isSelected={index === selected}
              fields={fields}
              row={data[index]}
            />
          ))}
        </div>
      )}
    </div>
  )
}

function rowIndexOf(target: EventTarget): number | undefined {
  const row = target instanceof Element ? target.closest('[data-index]') : null
  return row === null ? undefined : Number(row.getAttribute('data-index'))
}

interface GridRowProps {
  readonly index: number
  readonly number: number
  readonly top: number
  readonly isSelected: boolean
  readonly fields: readonly Field[]
  readonly row: Row | undefined
}

/** Memoized: scrolling renders only the rows that come into view. */
const GridRow = memo(function GridRow({ index, number, top, isSelected, fields, row }: GridRowProps) {
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
            {valueView(field, value)}
          </div>
        )
      })}
    </div>
  )
})

/** Columns take the width of their contents; a text column takes the space that is left. */
function columnStyle(widths: readonly number[]): CSSProperties {
  const columns = widths.map((width) => `minmax(${width}px, ${width > 120 ? `${width}fr` : `${width}px`})`)
  const rowWidth = widths.reduce((sum, width) => sum + width, 0)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- React does not type custom properties
  return { '--columns': columns.join(' '), '--row-width': `${rowWidth}px` } as CSSProperties
}

function GridHead({ fields, onMoveColumn }: GridProps) {
  const [dragged, setDragged] = useState<string>()
  const [over, setOver] = useState<string>()
  return (
    <div role="rowgroup" className="grid-head-group">
      <div className="grid-head" role="row" aria-rowindex={1}>
        {fields.map(({ name, type, description }) => (
          <div
            key={name}
            role="columnheader"
            title={`${description} (${type}) Drag to move.`}
            data-align={isNumeric(type) ? 'end' : undefined}
            data-over={over === name && dragged !== name ? '' : undefined}
            draggable
            onDragStart={() => setDragged(name)}
            onDragEnd={() => {
              setDragged(undefined)
              setOver(undefined)
            }}
            onDragOver={(event) => {
              event.preventDefault()
              setOver(name)
            }}
            onDrop={() => dragged !== undefined && dragged !== name && onMoveColumn(dragged, name)}
          >
            {name}
          </div>
        ))}
      </div>
    </div>
  )
}

function SkeletonRows({ fields }: { readonly fields: readonly Field[] }) {
  return (
    <div className="grid-body" aria-hidden="true" data-testid="skeleton">
      {skeletonRows.map((index) => (
        <div key={index} className="grid-row" style={{ transform: `translateY(${index * rowHeight}px)` }}>
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
