import { hostname, userInfo } from 'node:os'
import type { Actor } from '../accounts/audit.ts'

/** Who changes something by a command, as the audit tells it. */
export function operator(): Actor {
  return { kind: 'operator', id: user(), application: 'quartermaster command line', address: hostname() }
}

/** A container may run as a user that has no name. */
function user(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
