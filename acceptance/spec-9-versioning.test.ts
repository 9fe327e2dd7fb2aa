import { expect, test } from 'vitest'
import { companies, partners, problemIn, products, send } from './client.ts'

test('[9-1] the version is part of the path', async () => {
  for (const path of [products, partners, companies]) {
    expect((await send(path)).status).toBe(200)
    for (const other of ['/api/v2', '/api/v0', '/api', '/v1']) {
      expect(problemIn(await send(path.replace('/api/v1', other)), 404).code).toBe('path_unknown')
    }
  }
})

test('[9-2][V1] nothing of v1 is announced for removal', async () => {
  for (const path of [products, partners, companies, `${products}/1`, `${partners}/1`, `${companies}/1`]) {
    const { status, headers } = await send(path)
    expect(status).toBe(200)
    expect(headers).not.toHaveProperty('deprecation')
    expect(headers).not.toHaveProperty('sunset')
  }
})
