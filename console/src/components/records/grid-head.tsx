// biome-ignore-all lint/a11y/useSemanticElements: virtual rows are absolutely positioned, which table elements cannot be
// biome-ignore-all lint/a11y/useFocusableInteractive: the button in a header has the focus
import { type PointerEvent, useRef, useState } from 'react'
import type { CollectionName, Field } from '../../api/catalog.ts'
import { isNumeric } from '../../lib/format.ts'
import { labelOf, meaningOf } from '../../lib/labels.ts'
import { directionOf, nextSort } from '../../lib/records/sort.ts'
import { t } from '../../texts/texts.ts'
import { Icon } from '../icon.tsx'

export interface GridHeadProps {
  readonly name: CollectionName
  readonly fields: readonly Field[]
  /** As in the address. */
  readonly sort: string | undefined
  readonly isSortable: (field: Field) => boolean
  readonly onSort: (sort: string | undefined) => void
  readonly onMoveColumn: (name: string, before: string) => void
  /** Undefined: as wide as its contents again. */
  readonly onResize: (name: string, width: number | undefined) => void
}

/** The headers: a click orders, dragging moves, dragging the edge resizes. */
export function GridHead(props: GridHeadProps) {
  const { name: list, fields, sort, isSortable, onSort, onMoveColumn, onResize } = props
  const [dragged, setDragged] = useState<string>()
  const [over, setOver] = useState<string>()
  return (
    <div role="rowgroup" className="grid-head-group">
      <div className="grid-head" role="row" aria-rowindex={1}>
        {fields.map((field) => {
          const { name, type } = field
          const canSort = isSortable(field)
          const direction = canSort ? directionOf(sort, name) : undefined
          return (
            <div
              key={name}
              role="columnheader"
              aria-sort={direction}
              title={`${meaningOf(field, list)}\n${canSort ? t.list.clickOrDrag : t.list.drag}`}
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
              {canSort ? (
                <button type="button" className="head-label" onClick={() => onSort(nextSort(sort, name))}>
                  <span>{labelOf(field)}</span>
                  {direction !== undefined && (
                    <Icon name={direction === 'ascending' ? 'up' : 'down'} size={10} />
                  )}
                </button>
              ) : (
                <span className="head-label">{labelOf(field)}</span>
              )}
              <ResizeEdge onResize={(width) => onResize(name, width)} />
            </div>
          )
        })}
      </div>
    </div>
  )
}

interface ResizeEdgeProps {
  readonly onResize: (width: number | undefined) => void
}

/** The edge of a header. A double click makes the column as wide as its contents. */
function ResizeEdge({ onResize }: ResizeEdgeProps) {
  const start = useRef<{ readonly x: number; readonly width: number }>(undefined)
  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    event.currentTarget.setPointerCapture(event.pointerId)
    start.current = { x: event.clientX, width: columnWidth(event.currentTarget) }
  }
  const onPointerMove = ({ clientX }: PointerEvent) => {
    if (start.current !== undefined) onResize(start.current.width + clientX - start.current.x)
  }
  return (
    <span
      aria-hidden="true"
      className="resize"
      title={t.list.resize}
      // The header around it can be dragged, too.
      draggable
      onDragStart={(event) => {
        event.preventDefault()
        event.stopPropagation()
      }}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={() => (start.current = undefined)}
      onPointerCancel={() => (start.current = undefined)}
      onDoubleClick={() => onResize(undefined)}
    />
  )
}

function columnWidth(edge: HTMLElement): number {
  return edge.parentElement?.getBoundingClientRect().width ?? 0
}
