import pg from 'pg'
import { limits } from '../limits.ts'

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
 * Asks PostgreSQL to cancel what this connection runs, over another one, as its protocol wants it. Done when that one
 * is closed: PostgreSQL has sent the signal by then, so the connection can be used again and nothing later is hit.
 */
export function cancelRunning(client: pg.ClientBase): Promise<void> {
  const { host, port, ssl, processID, secretKey } = client
  const connection = new pg.Connection({ ssl })
  return new Promise((resolve) => {
    const late = setTimeout(() => connection.stream.destroy(), limits.connectMsMax)
    const done = () => {
      clearTimeout(late)
      resolve()
    }
    // Where it cannot be asked, the statement's deadline ends it.
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
