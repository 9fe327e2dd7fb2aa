import { Failure } from '../errors/errors.ts'

const released = new WeakMap<Failure, Promise<void>>()

/** Notes that the write which fails with this error uses its connection until `ended` resolves. */
export function failedBefore(ended: Promise<void>, failure: Failure): Failure {
  released.set(failure, ended)
  return failure
}

/** Resolves when the write that failed with this error no longer uses its connection: after a timeout, that is later. */
export async function connectionReleased(error: unknown): Promise<void> {
  if (error instanceof Failure) await released.get(error)
}
