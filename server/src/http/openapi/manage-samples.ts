import { curl, key, type Sample } from './samples.ts'

const json = "-H 'Content-Type: application/json'"

/** Samples for administrators. `KEY_ID` has the id of the key to read or change. */
export const manageSamples = {
  list: (path: string): readonly Sample[] => [
    curl('curl', 'curl --fail-with-body -G', `"$BASE_URL/manage/v1/${path}"`, key, "--data 'limit=5'"),
  ],
  one: [curl('curl', 'curl --fail-with-body', '"$BASE_URL/manage/v1/keys/$KEY_ID"', key)],
  create: [
    curl(
      'curl',
      'curl --fail-with-body',
      '"$BASE_URL/manage/v1/keys"',
      key,
      json,
      `-d '{"name":"web shop","scopes":["product:read"]}'`,
    ),
  ],
  rotate: [
    curl(
      'curl',
      'curl --fail-with-body',
      '"$BASE_URL/manage/v1/keys/$KEY_ID/rotate"',
      key,
      json,
      `-d '{"overlap_seconds":86400}'`,
    ),
  ],
  revoke: [curl('curl', 'curl --fail-with-body -X POST', '"$BASE_URL/manage/v1/keys/$KEY_ID/revoke"', key)],
} as const
