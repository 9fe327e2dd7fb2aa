import { perResource, type ResourceName } from '../catalog/resources.ts'
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

/** What is read of a resource: its tally, or only the version of the fields of the account, which rarely changes. */
export interface Requested {
  readonly resource: ResourceName
  readonly reads: 'tally' | 'schema'
}

/** The same objects for all requests, so that two verifications are compared by identity. */
export const requestedOf: Readonly<Record<ResourceName, Readonly<Record<Requested['reads'], Requested>>>> =
  perResource(({ name: resource }) => ({
    tally: { resource, reads: 'tally' },
    schema: { resource, reads: 'schema' },
  }))

export interface Verified {
  readonly access: Access
  /** Read after the request arrived. Undefined if the request does not read a resource. */
  readonly tally: Tally | undefined
  /** The version of the fields that the account has declared. Undefined if the request is not for a resource. */
  readonly schema: number | undefined
  /** The text from which it was parsed, if there is one. */
  readonly text?: string
}

export interface LastVerification {
  readonly verified: Verified
  readonly requested: Requested | undefined
}

/** A key to verify. */
export interface Verification {
  readonly accountId: string
  /** SHA-256 of the key, in hexadecimal. */
  readonly hash: string
  readonly requested: Requested | undefined
  readonly since: number
  /** The last successful verification of this key. */
  readonly last: LastVerification | undefined
  readonly resolve: (verified: Verified | undefined) => void
  readonly reject: (error: unknown) => void
}
