import { type IncomingMessage, ServerResponse } from 'node:http'
import type { RequestFlow, RequestFlows } from '../../scheduler/request-flows.ts'

/** A response that is counted as one of its account's requests in flight until it is sent, or until its request waits on purpose. */
export class CountedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  #leave: (() => void) | undefined

  /** `onClose`: called when it has been sent, or its client has disconnected. */
  countIn(flows: RequestFlows, flow: RequestFlow, onClose: () => void): void {
    this.#leave = () => flows.leave(flow)
    this.once('close', () => {
      this.leaveFlow()
      onClose()
    })
  }

  leaveFlow(): void {
    this.#leave?.()
    this.#leave = undefined
  }
}

/** For a request that waits on purpose or takes long: a stream, an export or a batch. It does not fill the queues meanwhile. */
export function leaveFlow(response: ServerResponse): void {
  if (response instanceof CountedResponse) response.leaveFlow()
}
