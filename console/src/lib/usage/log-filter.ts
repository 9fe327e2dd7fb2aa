import { quoted } from '@quartermaster/filter'
import { isoTime, type Range } from './usage-range.ts'

/** The filter of the request log for a part of the usage. The log has paths, usage has routes with {id}. */
export function logFilterOf(
  part: Range & { readonly key: string | undefined; readonly route: string | undefined },
): string {
  const [method, path] = part.route?.split(' ') ?? []
  const conditions = [
    `at>=${isoTime(part.fromMs)}`,
    `at<${isoTime(part.toMs)}`,
    ...(part.key === undefined ? [] : [`key_id=${quoted(part.key)}`]),
    ...(method === undefined || path === undefined ? [] : [`method=${method}`, pathCondition(path)]),
  ]
  return conditions.join('&')
}

function pathCondition(path: string): string {
  const [before = path, ...rest] = path.split(/\{\w+\}/)
  return rest.length === 0 ? `path=${quoted(path)}` : `path*${quoted(before)}`
}
