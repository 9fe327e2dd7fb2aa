/** The requests of one account in flight, by the name in its host. */
export interface RequestFlow {
  readonly name: string
  count: number
}

/**
 * Counts the requests in flight of each account, before their keys are verified. Under overload it shows whose requests fill
 * the queues. Requests that wait on purpose, such as streams, are not counted meanwhile.
 */
export class RequestFlows {
  readonly #flows = new Map<string, RequestFlow>()
  #total = 0

  enter(name: string): RequestFlow {
    let flow = this.#flows.get(name)
    if (flow === undefined) {
      flow = { name, count: 0 }
      this.#flows.set(name, flow)
    }
    flow.count++
    this.#total++
    return flow
  }

  leave(flow: RequestFlow): void {
    flow.count--
    this.#total--
    if (flow.count === 0) this.#flows.delete(flow.name)
  }

  /** Whether the account has at least an equal share of the requests in flight: if it alone has requests, it has. */
  hasShare({ count }: RequestFlow): boolean {
    return count * this.#flows.size >= this.#total
  }
}
