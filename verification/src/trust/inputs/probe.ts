import { rmSync } from 'node:fs'
import { createServer } from 'node:net'

/**
 * Loaded into a server process by `--import`. It tells the longest turn of the event loop since it was last asked, in
 * processor time of that thread: what other processes of a busy machine take does not count.
 *
 * A look in every turn needs a loop that never sleeps, so it looks only while somebody is connected.
 */
const path = process.env['BLOCK_PROBE'] ?? ''

let connected = 0
let longestMs = 0
let last = 0

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function look(): void {
  if (connected === 0) return
  const now = threadMs()
  longestMs = Math.max(longestMs, now - last)
  last = now
  setImmediate(look)
}

// `serve` begins again under the same number, to set the size of its heap.
rmSync(path, { force: true })

createServer((socket) => {
  connected++
  if (connected === 1) {
    last = threadMs()
    setImmediate(look)
  }
  socket.on('data', () => {
    socket.write(`${longestMs}\n`)
    longestMs = 0
  })
  socket.on('error', () => {})
  socket.once('close', () => {
    connected--
  })
})
  .listen(path)
  .unref()
