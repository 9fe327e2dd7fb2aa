import { hostname, userInfo } from 'node:os'
import type { Actor } from '../accounts/audit.ts'

/** The actor in the audit records of commands. */
export function operator(): Actor {
  return { kind: 'operator', id: user(), application: 'quartermaster command line', address: hostname() }
}

/** In a container the user may have no name. */
function user(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
