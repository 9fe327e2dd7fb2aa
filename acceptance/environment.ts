/** The service under test and its API keys. Provided by `global-setup.ts`; tests read it with `inject('target')`. */
export interface Target {
  /** The URL of the process with default settings: `http://127.0.0.1:port`. */
  readonly baseUrl: string
  /** `acme.<domain>` is the host of the account acme. */
  readonly domain: string
  readonly keys: Keys
  /** Only for a service that the tests started: tests that need the command line or the database are skipped without it. */
  readonly local?: LocalTarget
}

export interface LocalTarget {
  readonly databaseUrl: string
  /** The URL of a process with the default account acme and 127.0.0.1 as a trusted proxy. */
  readonly proxiedUrl: string
  /** Whether the process has connections to several database servers. Tests of a database that is away as a whole are skipped. */
  readonly isDistributed: boolean
}

/** One key with every scope per account, named after the account, and further keys of acme. */
export interface Keys {
  readonly acme: string
  readonly globex: string
  /** Has no records at first; the tests create partners in it. */
  readonly initech: string
  /** Has 2,500 products, for full pages of 1,000 records and for slow queries. */
  readonly bulk: string
  /** Has no records at first; `default_code`, `email` and `company_code` become unique. */
  readonly keyed: string
  /** A valid key of a suspended account. */
  readonly suspended: string
  /** The following are keys of acme. */
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
    target: Target
  }
}
