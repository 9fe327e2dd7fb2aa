import { afterAll } from 'vitest'
import { stopAll } from './at-end.ts'

// Runs before each test file. The hooks of a file do not run if its start failed, or if the command line selects none of its tests:
// then the next file of this worker stops what it has started.
await stopAll()
afterAll(stopAll)
