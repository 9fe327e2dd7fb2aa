import { formMediaType, mergePatchMediaType } from '../request/body.ts'

/** The response headers of the OpenAPI document. */

const header = (description: string, example?: string) => ({
  required: true,
  description,
  schema: { type: 'string' },
  ...(example === undefined ? {} : { example }),
})

export const headers = {
  etag: header(
    'The version of the response, weak. Send it as `If-None-Match` to get 304 if nothing has changed.',
    'W/"5f1c20b7e6a4-7-1-VBhmU6_XW5XHOVnE"',
  ),
  recordEtag: header(
    'The version of the record, strong unless the response is compressed. It changes only with the record. Send it as `If-None-Match` to get 304 if ' +
      'the record has not changed, or as `If-Match` to change the record only if no one else has.',
    '"12-5f1c20b7e6a41b2c-42-VBhmU6_XW5XHOVnE"',
  ),
  requestId: header(
    "Identifies the request in the service's logs. A valid id in the request is used; otherwise a new one is created.",
  ),
  link: header('RFC 8288: `first`, `prev`, `next` and `last`, relative to the request.'),
  nextLink: header('RFC 8288: `next`, the request that continues this one, relative to the request.'),
  firstLink: header('RFC 8288: `first`, the request that starts again, relative to the request.'),
  rateLimitPolicy: header(
    'draft-ietf-httpapi-ratelimit-headers: the number of requests (`q`) that the account and the key may send in a window ' +
      'of `w` seconds. On every response to a request with a valid key.',
    '"account";q=60000;w=60, "key";q=30000;w=60',
  ),
  rateLimit: header(
    'The remaining requests (`r`), and the seconds until the window ends (`t`).',
    '"account";r=59990;t=42, "key";r=29998;t=57',
  ),
  acceptQuery: header('RFC 10008: the type of the body of a `QUERY` to this path.', formMediaType),
  acceptPatch: header('RFC 5789: the types of the body of a `PATCH` to this path.', mergePatchMediaType),
  acceptPost: header('The types of the body of a `POST` to this path.', 'application/json'),
  retryAfter: { ...header('Seconds to wait before a retry.'), schema: { type: 'integer', minimum: 1 } },
}
