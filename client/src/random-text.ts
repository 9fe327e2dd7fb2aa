/** Random hexadecimal digits, two for each byte. Not crypto.randomUUID, which browsers offer only on pages loaded over HTTPS. */
export function randomText(bytes: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}
