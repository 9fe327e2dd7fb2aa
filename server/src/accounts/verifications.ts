import type { ResourceName } from '../catalog/resources.ts'
import type { AccountScope } from '../scope.ts'
import type { Tally } from '../tally-state.ts'
import type { Scope } from './key-format.ts'

/** The account of an accepted key, and what the key may do. */
export interface Access extends AccountScope {
  readonly keyId: string
  readonly scopes: ReadonlySet<Scope>
  /** Set by the operator for this account. 0: the default of the deployment. */
  readonly requestsPerMinute: number
  readonly keyRequestsPerMinute: number
  /** Records of each resource. */
  readonly recordsMax: number
}

export interface Verified {
  readonly access: Access
  /** Read after the request arrived. Undefined if the request is not for a resource. */
  readonly tally: Tally | undefined
  /** The text from which it was parsed, if there is one. */
  readonly text?: string
}

export interface LastVerification {
  readonly verified: Verified
  readonly resource: ResourceName | undefined
}

/** A key to verify. */
export interface Verification {
  readonly accountId: string
  /** SHA-256 of the key, in hexadecimal. */
  readonly hash: string
  readonly resource: ResourceName | undefined
  readonly since: number
  /** The last successful verification of this key. */
  readonly last: LastVerification | undefined
  readonly resolve: (verified: Verified | undefined) => void
  readonly reject: (error: unknown) => void
}
