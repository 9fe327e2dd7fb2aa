import { rmSync } from 'node:fs'
import { createServer } from 'node:net'

/**
 * Loaded into a server process with `--import`. On request it sends the longest iteration of the event loop since the last
 * request, in CPU time of the main thread, which does not depend on other processes of the machine.
 *
 * `setImmediate` in every iteration prevents the event loop from sleeping, so it samples only while a client is connected.
 */
const path = process.env['BLOCK_PROBE'] ?? ''

let connected = 0
let longestMs = 0
let last = 0

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function sample(): void {
  if (connected === 0) return
  const now = threadMs()
  longestMs = Math.max(longestMs, now - last)
  last = now
  setImmediate(sample)
}

// A killed process leaves its socket file behind.
rmSync(path, { force: true })

createServer((socket) => {
  connected++
  if (connected === 1) {
    last = threadMs()
    setImmediate(sample)
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
