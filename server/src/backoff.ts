/** The wait after a number of failures in a row: doubles with each, from `min` up to `max`, in the unit of both. */
export function backoff(failures: number, min: number, max: number): number {
  // The exponent is limited because the number of failures is not.
  return Math.min(max, min * 2 ** Math.min(failures - 1, 30))
}

/** Between half of the wait and all of it, so that those who failed together do not try again together. */
export function withJitter(wait: number, random: () => number = Math.random): number {
  return wait * (0.5 + random() / 2)
}
