import type pg from 'pg'
import type { DatabaseError } from 'pg'
import { Failure } from '../errors/errors.ts'
import type { AccountScope } from '../scope.ts'
import type { Statement } from '../sql.ts'

/**
 * Where the tables are: all on one server (`singleServer`), or spread over several by their account. Everything that differs
 * between the two is behind this interface, so that no other code asks which one it is.
 */
export interface Layout {
  /** The form of an operation in this layout: the operation itself, or one of the same type that replaces it. */
  readonly form: <Operation extends object>(plain: Operation) => Operation
  /** Settings of serving connections, in addition to those of every layout. */
  readonly settings: Readonly<Record<string, string>>
  /** Whether a replica can prove that it has the state of its primary. */
  readonly hasReplicas: boolean
  /** Whether a row with this epoch was read from a server that is current, if the process is connected to `server`. */
  readonly isCurrent: (epoch: unknown, server: string) => boolean
  /** Whether an internal error is not a defect, but of another server that is away or has lost the account. */
  readonly isTemporary: (error: DatabaseError) => boolean
  /** Whether the error is of another server than the one that returned it, so that the connection can still be used. */
  readonly isOfOtherServer: (error: DatabaseError) => boolean
  /** Runs a check of several accounts. If servers can be away on their own, the accounts of the others are checked nevertheless. */
  readonly checkAccounts: <Item extends AccountScope, Result>(
    items: readonly Item[],
    check: (items: readonly Item[]) => Promise<Result[]>,
  ) => Promise<Result[]>
  /** The other servers. Undefined if there are none. */
  readonly nodes: <Database extends Node<Database>>(entry: Database) => Nodes<Database> | undefined
  /** Run after migrations, as owner and in a transaction. Returns lines for the operator. */
  readonly afterMigrations: (client: pg.Client) => Promise<string[]>
  /** What `doctor` reports about the layout. `roles`: those of serving connections. */
  readonly inspect: (client: pg.Client, roles: readonly string[]) => Promise<Inspected[]>
}

/** A problem, if it has a repair. */
export interface Inspected {
  readonly message: string
  readonly repair?: string
}

/** The connections to one server. */
export interface Node<Self> {
  readonly url: string
  readonly primary: { readonly isReachable: boolean }
  connect(): Promise<Layout>
  read<Row extends { readonly [Column in keyof Row]: string | Buffer | null }>(
    statement: Statement,
  ): Promise<Row[]>
  /** Connections with the same options to another server. */
  nodeAt(url: string): Self
  close(): Promise<void>
}

export interface Nodes<Database> {
  readonly all: readonly Database[]
  /** The server with the account. Undefined if it is not known, or cannot be reached: then any server forwards a statement. */
  of(accountId: string): Database | undefined
  /** The same for writes. */
  forWrites(accountId: string): WriteNode<Database> | undefined
  close(): Promise<void>
}

export interface WriteNode<Database> {
  readonly database: Database
  /** Returns a row if the account is on this server. To be run after a write of the transaction, which keeps the account there. */
  readonly confirm: Statement
}

/** The account was moved while it was written to. Nothing was written. */
export class AccountMoved extends Failure {
  constructor() {
    super('overloaded', 'The account was moved to another server meanwhile. Nothing was written; try again.')
  }
}

export const singleServer: Layout = {
  form: (plain) => plain,
  settings: {},
  hasReplicas: true,
  isCurrent: (epoch, server) => epoch === server,
  isTemporary: () => false,
  isOfOtherServer: () => false,
  checkAccounts: (items, check) => check(items),
  nodes: () => undefined,
  afterMigrations: async () => [],
  inspect: async () => [],
}
