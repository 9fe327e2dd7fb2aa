/** Where the service runs, and what opens it. Made once by `global-setup.ts`; the tests get it by `inject`. */
export interface Place {
  /** Of the process with default settings: `http://127.0.0.1:port`. */
  readonly baseUrl: string
  /** `acme.<domain>` is the host of the account acme. */
  readonly domain: string
  readonly keys: Keys
  /** Absent where the service is not ours: then nothing is done that only its operator can do. */
  readonly own?: OwnPlace
}

export interface OwnPlace {
  readonly databaseUrl: string
  /** Of a process with the default account acme that trusts this machine as a proxy. */
  readonly proxiedUrl: string
}

/** Each account has one key with every scope, by the account's name; acme has more. */
export interface Keys {
  readonly acme: string
  readonly globex: string
  /** Starts without records; the tests create partners in it. */
  readonly initech: string
  /** 2,500 products, for whole pages of 1,000 and for slow queries. */
  readonly bulk: string
  /** The key is sound, its account suspended. */
  readonly suspended: string
  /** From here on: keys of acme. */
  readonly productRead: string
  readonly partnerRead: string
  readonly partnerCreate: string
  readonly companyRead: string
  readonly accountManage: string
  readonly expired: string
  readonly revoked: string
}

declare module 'vitest' {
  export interface ProvidedContext {
    place: Place
  }
}
