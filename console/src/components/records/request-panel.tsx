import { ActionIcon, Tabs } from '@mantine/core'
import { useState } from 'react'
import type { Collection } from '../../api/catalog.ts'
import type { Exchange } from '../../api/exchange.ts'
import { bytesText, grouped, msText } from '../../lib/format.ts'
import { usePanelFocus } from '../../lib/panel-focus.ts'
import type { ListParameters } from '../../lib/records/records-search.ts'
import { type Format, formats, requestText } from '../../lib/records/request-text.ts'
import { serverTimingOf, sourceText } from '../../lib/server-timing.ts'
import { t } from '../../texts/texts.ts'
import { CopyButton } from '../copy-button.tsx'
import { Icon } from '../icon.tsx'
import { statusTone } from '../value-view.tsx'
import { ExportPart } from './export-part.tsx'

interface RequestPanelProps {
  readonly collection: Collection
  readonly parameters: ListParameters
  readonly exchange: Exchange | undefined
  readonly total: number | undefined
  readonly onClose: () => void
}

/** The request of this view for other programs, and what the service sent back. */
export function RequestPanel({ collection, parameters, exchange, total, onClose }: RequestPanelProps) {
  const heading = usePanelFocus()
  const [format, setFormat] = useState<Format>('curl')
  const text = requestText(format, location.origin, collection, parameters)
  return (
    <aside className="panel" aria-label={t.list.request}>
      <header className="panel-head">
        <h2 ref={heading} tabIndex={-1}>
          {t.list.request}
        </h2>
        <ActionIcon variant="subtle" color="gray" aria-label={t.common.close} onClick={onClose}>
          <Icon name="close" size={14} />
        </ActionIcon>
      </header>
      <div className="panel-body">
        <Tabs
          value={format}
          onChange={(next) => setFormat(formats.find((one) => one === next) ?? 'curl')}
          keepMounted={false}
        >
          <Tabs.List>
            {formats.map((one) => (
              <Tabs.Tab key={one} value={one}>
                {one}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Tabs.Panel value={format} pt={10}>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: without the focus, a keyboard could not scroll it */}
            <pre className="code" data-wrap={format === 'URL' ? '' : undefined} tabIndex={0}>
              {text}
            </pre>
            <div className="row panel-copy">
              <CopyButton label={t.record.copyFormat(format)} text={() => text} />
              <span className="dim">
                {t.record.keyVariable} <code>KEY</code>.
              </span>
            </div>
          </Tabs.Panel>
        </Tabs>
        <h3>{t.record.response}</h3>
        {exchange === undefined ? (
          <p className="dim">{t.record.noResponse}</p>
        ) : (
          <ResponseFacts exchange={exchange} />
        )}
        <ExportPart collection={collection} parameters={parameters} total={total} />
      </div>
    </aside>
  )
}

function ResponseFacts({ exchange }: { readonly exchange: Exchange }) {
  const { status, ms, bytes, headers, method } = exchange
  const { timings, source } = serverTimingOf(headers['server-timing'])
  return (
    <>
      <dl className="details">
        <dt>{t.common.status}</dt>
        <dd>
          <span className="badge" data-tone={statusTone(status)}>
            {status} {statusTexts[status]}
          </span>
        </dd>
        <dt>{t.record.time}</dt>
        <dd>
          {msText(ms)} <span className="dim">{t.record.inBrowser(method)}</span>
        </dd>
        <dt>{t.record.size}</dt>
        <dd>{bytesText(bytes)}</dd>
        {status < 400 && (
          <>
            <dt>{t.record.source}</dt>
            <dd>{sourceText(source, status)}</dd>
          </>
        )}
        {headers['etag'] !== undefined && (
          <>
            <dt>ETag</dt>
            <dd>
              <code>{headers['etag']}</code>
            </dd>
          </>
        )}
        <dt>{t.record.requestId}</dt>
        <dd>
          <code>{headers['x-request-id']}</code>
        </dd>
        {headers['ratelimit'] !== undefined && (
          <>
            <dt>{t.record.rateLimit}</dt>
            <dd>{rateText(headers['ratelimit'])}</dd>
          </>
        )}
      </dl>
      {timings.length > 0 && (
        <>
          <h3>Server-Timing</h3>
          <TimingBar timings={timings} />
        </>
      )}
    </>
  )
}

function TimingBar({ timings }: { readonly timings: ReturnType<typeof serverTimingOf>['timings'] }) {
  const total = timings.find(({ name }) => name === 'total')?.ms ?? 0
  const parts = timings.filter(({ name }) => name !== 'total')
  return (
    <>
      <div className="timing" aria-hidden="true">
        {parts.map(({ name, ms }) => (
          <i key={name} style={{ width: `${total === 0 ? 0 : (ms / total) * 100}%` }} />
        ))}
      </div>
      <dl className="details">
        {timings.map(({ name, ms }) => (
          <div key={name} className="contents">
            <dt>{timingText(name)}</dt>
            <dd>{msText(ms)}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}

function timingText(name: string): string {
  if (name === 'auth') return t.record.verifyKey
  if (name === 'read') return t.record.readRecords
  if (name === 'write') return t.record.write
  return name === 'total' ? t.record.total : name
}

const statusTexts: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  429: 'Too Many Requests',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

/** `"account";r=59990;t=42, "key";r=29998;t=57` → "29,998 requests left for this key" */
function rateText(header: string): string {
  const left = /"key";r=(\d+)/.exec(header)?.[1]
  return left === undefined ? header : t.record.requestsLeft(grouped(Number(left)))
}
