import type { BlockList } from 'node:net'
import type { AccountReads } from '../accounts/account-reads.ts'
import type { Definitions } from '../fields/definitions.ts'
import type { Limits } from '../limits/passed-limits.ts'
import type { EmitEvent } from '../observability/events.ts'
import type { Database } from '../postgres/database.ts'
import { AddressGuard } from './address-guard.ts'
import { deliver } from './delivery.ts'
import { DeliveryLoop } from './delivery-loop.ts'
import { Sender } from './sender.ts'
import type { MasterKeys } from './signature.ts'
import { TestMessages } from './test-messages.ts'

export interface WebhooksOptions {
  /** From which the secrets of webhooks are derived. Undefined: no webhooks can be created or sent. */
  readonly masterKeys: MasterKeys | undefined
  /** Networks that webhooks may reach besides the public internet. */
  readonly networks: BlockList
  /** Whether this process delivers changes. */
  readonly delivers: boolean
  readonly database: Database
  readonly definitions: Definitions
  readonly accountReads: AccountReads
  readonly emit: EmitEvent
  readonly limits: Limits
}

/** The webhooks of a process: test messages for administrators, and the delivery of changes. */
export class Webhooks {
  readonly messages: TestMessages
  /** Subscribes to the events of requests, if this process delivers. */
  readonly observe: EmitEvent | undefined
  readonly #loop: DeliveryLoop | undefined
  readonly #stopDelivery = new AbortController()
  readonly #stopTests = new AbortController()

  constructor(options: WebhooksOptions) {
    const { masterKeys, networks, delivers, limits, database, emit } = options
    const guard = new AddressGuard(networks)
    const sender = new Sender({ guard, limits })
    this.messages = new TestMessages({ masterKeys, guard, sender, limits, shutdown: this.#stopTests.signal })
    if (masterKeys === undefined || !delivers) return
    const parts = { ...options, masterKeys, sender, shutdown: this.#stopDelivery.signal }
    const deliverTo = (endpoint: Parameters<typeof deliver>[1]) => deliver(parts, endpoint)
    const loop = new DeliveryLoop({ database, emit, limits, deliver: deliverTo })
    this.observe = (event) => loop.observe(event)
    this.#loop = loop
  }

  /** Aborts deliveries in flight, and releases the leases of this process. */
  async stopDelivery(): Promise<void> {
    this.#stopDelivery.abort()
    await this.#loop?.close()
  }

  /** Also aborts the test messages of requests. */
  async close(): Promise<void> {
    this.#stopTests.abort()
    await this.stopDelivery()
  }
}
