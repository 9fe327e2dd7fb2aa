import pg from 'pg'

declare module 'pg' {
  interface Connection {
    connect(port: number | string, host?: string): void
    requestSsl(): void
    cancel(processId: number, secretKey: number): void
  }
  interface ClientBase {
    readonly host: string
    readonly port: number
    readonly ssl: pg.ConnectionConfig['ssl']
    readonly processID: number
    readonly secretKey: number
  }
}

/**
 * Sends PostgreSQL a cancel request for the statement that this connection runs. The protocol requires a separate
 * connection for it. Resolves when PostgreSQL has closed that connection: by then it has signalled the backend, so the
 * caller can run the next statement without the risk that it is cancelled instead.
 */
export function cancelRunning(client: pg.ClientBase, connectMsMax: number): Promise<void> {
  const { host, port, ssl, processID, secretKey } = client
  const connection = new pg.Connection({ ssl })
  return new Promise((resolve) => {
    const timeout = setTimeout(() => connection.stream.destroy(), connectMsMax)
    const done = () => {
      clearTimeout(timeout)
      resolve()
    }
    // If the request fails, the statement runs until its statement_timeout.
    connection.once('error', done)
    connection.once('end', done)
    connection.once('sslconnect', () => connection.cancel(processID, secretKey))
    connection.once('connect', () => {
      if (ssl) connection.requestSsl()
      else connection.cancel(processID, secretKey)
    })
    if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`)
    else connection.connect(port, host)
  })
}
