/**
 * The account whose data a read or write uses. Every statement on an account's tables requires one. Only `accounts/` creates
 * them, from an accepted key or an operator's command.
 */
export interface AccountScope {
  readonly accountId: string
}
