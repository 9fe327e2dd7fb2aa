/**
 * Whose data a read or write is about. Every statement on an account's tables takes one, so that none can be built
 * without saying for whom. Only `accounts/` makes them, from a key that was accepted or an operator's command.
 */
export interface AccountScope {
  readonly accountId: string
}
