import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface RawResponse {
  /** 0 if there was no response. */
  readonly status: number
  /** Of the complete response, including headers. */
  readonly bytes: number
  /** Of its longest line. */
  readonly lineBytes: number
  readonly start: string
}

const responseMsMax = 30_000
const startCharacters = 2_000
/** An event stream never ends: it counts as read when nothing more has arrived for this long. */
const silentMsMax = 300

/** Sends bytes over a plain socket, because HTTP clients refuse to send invalid requests, and reads until the server closes. */
export function sendRaw(port: number, message: Buffer): Promise<RawResponse> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let [bytes, start, line, lineBytes] = [0, '', 0, 0]
    const late = setTimeout(() => socket.destroy(), responseMsMax)
    socket.on('data', (chunk) => {
      if (start.length < startCharacters) start += chunk.toString('latin1').slice(0, startCharacters)
      bytes += chunk.length
      for (let at = 0; at < chunk.length; ) {
        const end = chunk.indexOf(10, at)
        line += (end < 0 ? chunk.length : end) - at
        lineBytes = Math.max(lineBytes, line)
        if (end < 0) break
        line = 0
        at = end + 1
      }
      if (start.includes('content-type: text/event-stream')) socket.setTimeout(silentMsMax)
    })
    socket.on('timeout', () => socket.destroy())
    socket.on('error', () => {})
    socket.once('close', () => {
      clearTimeout(late)
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(start)?.[1] ?? 0), bytes, lineBytes, start })
    })
    socket.write(message)
  })
}

/** Connects to `probe.ts` in the server process. */
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

  /** The longest iteration of the event loop since the last call. */
  async longestMs(): Promise<number> {
    const reply = once(this.#socket, 'data')
    this.#socket.write('?')
    const [text]: Buffer[] = await reply
    return Number(String(text))
  }

  close(): void {
    this.#socket.destroy()
  }
}
