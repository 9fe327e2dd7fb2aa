import { ActionIcon, Button } from '@mantine/core'
import { useHotkeys } from '../../lib/hotkeys.ts'
import { changed, isoTime, type Per, type Range } from '../../lib/usage/usage-range.ts'
import { t } from '../../texts/texts.ts'
import { Icon, type IconName } from '../icon.tsx'

interface UsageRangeBarProps {
  readonly per: Per
  readonly full: Range
  readonly shown: Range
  readonly isZoomed: boolean
  readonly onZoom: (range: Range) => void
  readonly onReset: () => void
  readonly children: React.ReactNode
}

/** The range of the charts, and how to change it without a mouse. */
export function UsageRangeBar({ per, full, shown, isZoomed, onZoom, onReset, children }: UsageRangeBarProps) {
  const change = (by: { scale?: number; move?: number }) => onZoom(changed(shown, full, by, per))
  const actions = {
    earlier: () => change({ move: -0.5 }),
    later: () => change({ move: 0.5 }),
    closer: () => change({ scale: 0.5 }),
    wider: () => change({ scale: 2 }),
  }
  useHotkeys({
    '+': actions.closer,
    '-': actions.wider,
    '0': onReset,
    ArrowLeft: actions.earlier,
    ArrowRight: actions.later,
  })
  return (
    <div className="usage-bar">
      <span className="row">
        <Step
          label={t.usage.earlier}
          icon="left"
          isDisabled={shown.fromMs <= full.fromMs}
          onClick={actions.earlier}
        />
        <Step
          label={t.usage.later}
          icon="right"
          isDisabled={shown.toMs >= full.toMs}
          onClick={actions.later}
        />
        <Step label={t.usage.zoomIn} icon="plus" onClick={actions.closer} />
        <Step label={t.usage.zoomOut} icon="minus" isDisabled={!isZoomed} onClick={actions.wider} />
      </span>
      <span className="usage-range">
        {rangeText(shown, per)} <span className="dim">UTC</span>
      </span>
      {isZoomed && (
        <Button size="compact-xs" variant="default" onClick={onReset}>
          {t.usage.resetZoom}
        </Button>
      )}
      {children}
    </div>
  )
}

function Step(props: {
  readonly label: string
  readonly icon: IconName
  readonly isDisabled?: boolean
  readonly onClick: () => void
}) {
  return (
    <ActionIcon
      variant="default"
      aria-label={props.label}
      title={props.label}
      disabled={props.isDisabled === true}
      onClick={props.onClick}
    >
      <Icon name={props.icon} size={14} />
    </ActionIcon>
  )
}

/** "2026-11-16 03:31 – 09:31", and the dates of days. */
function rangeText({ fromMs, toMs }: Range, per: Per): string {
  if (per === 'day') return `${dayOf(isoTime(fromMs))} – ${dayOf(isoTime(toMs - 1))}`
  const [from, to] = [isoTime(fromMs), isoTime(toMs)]
  const text = (iso: string) => `${dayOf(iso)} ${iso.slice(11, 16)}`
  return `${text(from)} – ${from.slice(0, 10) === to.slice(0, 10) ? to.slice(11, 16) : text(to)}`
}

function dayOf(iso: string): string {
  return t.time.day(iso.slice(0, 10))
}
