import { once } from 'node:events'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { waitUntil } from '../../wait-until.ts'
import type { ReverseProxy } from './proxy.ts'

const batchBytes = 50_000_000
/** More than a slice of a batch has (1,000), so that the service writes rows and responds before the end of the body. */
const firstRows = 2_000
/** Only ends a check that hangs: on a busy machine, 50 MB take a minute. */
const streamMsMax = 600_000

export interface Sender {
  readonly proxy: ReverseProxy
  readonly key: string
}

function send({ proxy, key }: Sender, path: string, headers: Record<string, string>, method = 'GET') {
  return request({
    host: '127.0.0.1',
    port: proxy.httpsPort,
    method,
    path,
    ca: proxy.certificate,
    servername: 'acme.localhost',
    headers: { host: 'acme.localhost', authorization: `Bearer ${key}`, ...headers },
    timeout: streamMsMax,
  })
}

/**
 * A batch of 50 MB whose rows are written as they arrive: the proxy limits the body neither in size nor in time, and does not store it.
 * HAProxy also forwards the fault of the first row before the rest is sent; nginx cannot.
 */
export async function batchStreams(
  sender: Sender,
  path: string,
  line: (n: number) => string,
  resultsAtOnce: boolean,
): Promise<string[]> {
  const batch = new SentBatch(sender, path)
  try {
    await batch.send('{"id":"not a number"}\n')
    if (resultsAtOnce) {
      await batch.send(lines(line, 0))
      await waitUntil(() => batch.received.includes('"line":1'), streamMsMax, 'no result')
    }
    for (let sent = firstRows; batch.bytes < batchBytes; sent += firstRows)
      await batch.send(lines(line, sent))
    const stored = sender.proxy.temporaryFiles()
    const { status, text } = await batch.end()
    const isComplete = status === 200 && /\{"\$end":.*"rejected":1\b.*\}\n$/.test(text)
    return [
      ...(isComplete ? [] : [`the batch: ${status} ${text.slice(-300)}`]),
      ...(stored.length > 0 ? [`the batch is stored on disk: ${stored.join(', ')}`] : []),
    ]
  } catch (error) {
    return [`the batch after ${batch.bytes} bytes: ${String(error)} ${batch.received.slice(0, 200)}`]
  } finally {
    batch.destroy()
  }
}

const lines = (line: (n: number) => string, from: number) =>
  Array.from({ length: firstRows }, (_, n) => `${line(from + n)}\n`).join('')

class SentBatch {
  readonly #outgoing: ClientRequest
  /** Rejects if the connection breaks. */
  readonly #broken: Promise<never>
  readonly #response: Promise<number>
  #ended = false
  bytes = 0
  received = ''

  constructor(sender: Sender, path: string) {
    this.#outgoing = send(sender, `${path}/batch`, { 'content-type': 'application/x-ndjson' }, 'POST')
    this.#broken = new Promise((_, reject) => {
      this.#outgoing.on('error', reject)
      this.#outgoing.once('timeout', () => this.#outgoing.destroy(new Error('the proxy is silent')))
    })
    this.#broken.catch(() => {})
    this.#response = new Promise((resolve, reject) => {
      this.#outgoing.once('response', (response) => {
        response.setEncoding('utf8').on('data', (part: string) => (this.received += part))
        response.once('error', reject)
        response.once('end', () => {
          this.#ended = true
          resolve(response.statusCode ?? 0)
        })
      })
    })
    this.#response.catch(() => {})
  }

  async send(text: string): Promise<void> {
    this.bytes += text.length
    if (this.#outgoing.write(text)) return
    // nginx reads no more of the body after a response such as 413.
    await this.#unlessBroken(Promise.race([once(this.#outgoing, 'drain'), this.#response]))
    if (this.#ended) throw new Error(`the response ended before the body: ${this.received.slice(0, 300)}`)
  }

  async end(): Promise<{ status: number; text: string }> {
    this.#outgoing.end()
    return { status: await this.#unlessBroken(this.#response), text: this.received }
  }

  destroy(): void {
    this.#outgoing.destroy()
  }

  #unlessBroken<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#broken])
  }
}

/** An event of a change stream arrives while the stream is open, not when a buffer of the proxy is full. */
export async function changeStreams(
  sender: Sender,
  path: string,
  change: () => Promise<unknown>,
): Promise<string[]> {
  const outgoing = send(sender, `${path}/changes?since=now`, { accept: 'text/event-stream' })
  try {
    const responded = new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once('response', resolve).once('error', reject)
    })
    outgoing.end()
    const response = await responded
    let text = ''
    response.setEncoding('utf8').on('data', (part: string) => (text += part))
    await waitUntil(
      () => text.includes('id: '),
      60_000,
      `no first event after ${response.statusCode} ${text}`,
    )
    await change()
    await waitUntil(() => text.includes('event: changes'), 60_000, 'no event of a change')
    return []
  } catch (error) {
    return [`the change stream: ${String(error)}`]
  } finally {
    outgoing.destroy()
  }
}
