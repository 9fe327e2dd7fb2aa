import { gzipSync } from 'node:zlib'
import { products } from '../../load/fixture.ts'
import type { Attack } from './attack.ts'
import { endless, flood } from './requests.ts'

const path = `${products}/batch`
/** As many as an account may send at once in a process, and one that is rejected. */
const batches = 3

const rows = (n: number, batch: number, text: string) =>
  Array.from(
    { length: 200 },
    (_, i) => `{"id":${10_000_000 * (batch + 1) + n * 200 + i},"name":"${text} ${n}-${i}"}\n`,
  ).join('')

const alternating = (id: number) => `{"id":${id},"name":"x"}\n{"$delete":${id}}\n`.repeat(200)

const arrays = gzipSync(`{"id":1,"name":[${'0,'.repeat(500_000)}0]}\n`, { level: 1 })
const columns = gzipSync(`${'a,'.repeat(60_000)}${'id,'.repeat(40_000)}id\n1\n`, { level: 9 })

export const batchAttacks: readonly Attack[] = [
  {
    name: 'batch_rows',
    run: (target, signal) =>
      endless(target, signal, batches * target.processes, path, (n, batch) => rows(n, batch, 'bulk')),
  },
  {
    name: 'batch_long_rows',
    run: (target, signal) =>
      endless(target, signal, batches * target.processes, path, (n, batch) =>
        rows(n, batch, 'y'.repeat(400)),
      ),
  },
  {
    name: 'batch_alternating',
    run: (target, signal) =>
      endless(target, signal, batches * target.processes, path, (_, batch) => alternating(77 + batch)),
  },
  {
    name: 'batch_rejected',
    run: (target, signal) => {
      const lines = '1\n'.repeat(30_000)
      return endless(target, signal, batches * target.processes, path, () => lines)
    },
  },
  {
    name: 'batch_blank',
    run: (target, signal) => {
      const lines = '\n'.repeat(60_000)
      return endless(target, signal, batches * target.processes, path, () => lines)
    },
  },
  {
    name: 'batch_arrays',
    run: (target, signal) =>
      flood(target, signal, batches * target.processes, () => ({
        method: 'POST',
        path,
        headers: { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' },
        body: Buffer.concat(Array.from({ length: 8 }, () => arrays)),
      })),
  },
  {
    name: 'batch_columns',
    run: (target, signal) =>
      flood(target, signal, 4, () => ({
        method: 'POST',
        path,
        headers: { 'content-type': 'text/csv', 'content-encoding': 'gzip' },
        body: columns,
      })),
  },
]
