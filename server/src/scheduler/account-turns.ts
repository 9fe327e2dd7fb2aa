/** What waits, by account. Takes from one account after the other, the oldest of each first. */
export class AccountTurns<Item> {
  /** The account that is next in turn first. */
  readonly #queues = new Map<string, Item[]>()

  get isEmpty(): boolean {
    return this.#queues.size === 0
  }

  add(account: string, item: Item): void {
    const queue = this.#queues.get(account)
    if (queue === undefined) this.#queues.set(account, [item])
    else queue.push(item)
  }

  /** Removes the next item; undefined if none waits. */
  take(): Item | undefined {
    const [next] = this.#queues
    if (next === undefined) return undefined
    const [account, queue] = next
    this.#queues.delete(account)
    const item = queue.shift()
    if (queue.length > 0) this.#queues.set(account, queue)
    return item
  }
}
