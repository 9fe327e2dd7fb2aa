/** An idempotency key. Not crypto.randomUUID, which browsers offer only on pages loaded over HTTPS. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}
