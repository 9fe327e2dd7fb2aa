/**
 * The values of a flat JSON object as PostgreSQL writes `jsonb`, `{"7": "red", "12": 4.5}`, each as its text: a number that was parsed
 * would be rounded. Keys are numbers, and no value is an array or an object.
 */
export function jsonMembers(text: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>()
  for (let at = text.indexOf('"'); at >= 0; ) {
    const keyEnd = text.indexOf('"', at + 1)
    const start = keyEnd + 3
    const end = endOfValue(text, start)
    members.set(text.slice(at + 1, keyEnd), text.slice(start, end))
    at = text.indexOf('"', end)
  }
  return members
}

function endOfValue(text: string, start: number): number {
  let at = start
  if (text[at] !== '"') {
    while (text[at] !== ',' && text[at] !== '}') at++
    return at
  }
  for (at += 1; text[at] !== '"'; at++) if (text[at] === '\\') at++
  return at + 1
}
