import { Tabs } from '@mantine/core'
import { useState } from 'react'
import { type ReceiverName, receivers } from '../../lib/webhooks/receivers.ts'
import { t } from '../../texts/texts.ts'
import { CopyButton } from '../copy-button.tsx'

/** Programs that verify the signature of each message and return the challenge. */
export function ReceiverCode() {
  const [name, setName] = useState<ReceiverName>('Node')
  const receiver = receivers.find((one) => one.name === name) ?? receivers[0]
  return (
    <Tabs
      value={name}
      onChange={(next) => setName(receivers.find((one) => one.name === next)?.name ?? 'Node')}
      keepMounted={false}
    >
      <Tabs.List>
        {receivers.map((one) => (
          <Tabs.Tab key={one.name} value={one.name}>
            {one.name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={name} pt={10}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: without the focus, a keyboard could not scroll it */}
        <pre className="code receiver-code" tabIndex={0}>
          {receiver.code}
        </pre>
        <div className="row panel-copy">
          <CopyButton label={t.webhooks.copyCode} text={() => receiver.code} />
          <span className="dim">
            {t.webhooks.secretVariable} <code>WEBHOOK_SECRET</code>.
          </span>
        </div>
      </Tabs.Panel>
    </Tabs>
  )
}
