import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  /** 0 where none came. */
  readonly status: number
  /** Of the whole answer, its headers too. */
  readonly bytes: number
  readonly start: string
}

const answerMsMax = 30_000

/** Sends bytes as they are and reads until the server closes: what no HTTP client would send has to be sent. */
export function askRaw(port: number, message: Buffer): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let bytes = 0
    let start = ''
    socket.on('data', (chunk) => {
      if (start.length < 500) start += chunk.toString('latin1').slice(0, 500)
      bytes += chunk.length
    })
    socket.on('error', () => {})
    const late = setTimeout(() => socket.destroy(), answerMsMax)
    socket.once('close', () => {
      clearTimeout(late)
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(start)?.[1] ?? 0), bytes, start })
    })
    socket.write(message)
  })
}

/** Asks the probe in the server process. */
export class Probe {
  readonly #socket: Socket

  private constructor(socket: Socket) {
    this.#socket = socket
  }

  static async connect(path: string): Promise<Probe> {
    const socket = connect(path)
    await once(socket, 'connect')
    return new Probe(socket)
  }

  /** The longest turn of the event loop since this was last asked. */
  async longestMs(): Promise<number> {
    const answer = once(this.#socket, 'data')
    this.#socket.write('?')
    const [text]: Buffer[] = await answer
    return Number(String(text))
  }

  close(): void {
    this.#socket.destroy()
  }
}
