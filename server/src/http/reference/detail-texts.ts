import type { FilterErrorCode } from '@quartermaster/filter'
import type { FaultCode } from '../../errors/errors.ts'
import type { DeliveryOutcome } from '../../observability/events.ts'

/** The texts of the page of a code that is not the `code` of an error response, with the place where the code appears. */
export interface DetailText {
  readonly place: string
  readonly cause: string
  readonly remedy: string
}

/** The place is that of its table, unless it has its own. */
type Text = Omit<DetailText, 'place'> & Partial<DetailText>

type RequestFault = Exclude<FaultCode, `filter_${string}`>
type FailedDelivery = Exclude<DeliveryOutcome, 'delivered'> | 'challenge'
type ClientCode =
  | 'connection_failed'
  | 'host_unknown'
  | 'no_response'
  | 'proxy_timeout'
  | 'proxy_unavailable'
  | 'response_unexpected'
  | 'stream_truncated'
  | 'timed_out'
  | 'tls_failed'
  | 'webhook_invalid'

const inErrors = 'errors of a 400 response'
const inFilter = `${inErrors}, for the parameter filter`
const inDeliveries = 'error in the list of webhook deliveries'
const inClient = 'errors of the TypeScript client and of the console'
const number = { cause: 'The parameter is not an integer, or is out of range.' }

const faults: Record<RequestFault, Text> = {
  parameter_unknown: {
    place: `${inErrors}; the console, for a wrong address`,
    cause: 'This path or page does not have the parameter.',
    remedy: 'Correct or remove it. A filter with & in a value needs quotes around the value.',
  },
  parameter_repeated: { cause: 'A parameter occurs more than once.', remedy: 'Send it once.' },
  parameter_encoding: {
    cause: 'A % is not followed by two hexadecimal digits, or the bytes are not UTF-8.',
    remedy: 'Percent-encode the value once. A literal % is %25.',
  },
  parameter_not_for_export: {
    cause: 'An export has page, limit or sort.',
    remedy: 'Omit the parameter, or request application/json.',
  },
  parameter_not_for_stream: {
    cause: 'A stream of changes has wait.',
    remedy: 'Omit wait, or read the changes without text/event-stream.',
  },
  page_invalid: { ...number, remedy: 'Send a page from 1.' },
  limit_invalid: { ...number, remedy: 'Send a limit from 1 to 1000.' },
  after_id_invalid: { ...number, remedy: 'Send a record id, or 0.' },
  max_id_invalid: { ...number, remedy: 'Send a record id.' },
  wait_invalid: { ...number, remedy: 'Send a number of seconds within the range that the message names.' },
  cursor_invalid: {
    cause: 'since or Last-Event-ID is not a cursor, or is damaged.',
    remedy:
      'Send a cursor exactly as the service returned it. Without one, the feed begins with every record.',
  },
  cursor_mismatch: {
    cause: 'The cursor belongs to another account, resource or filter.',
    remedy: 'Continue with the same resource and filter, or start again without a cursor.',
  },
  search_invalid: {
    cause: 'search has no word, or too many words or characters.',
    remedy: 'Send one to eight words, separated by spaces.',
  },
  sort_invalid: {
    cause: 'sort is not one field name, or is combined with after_id.',
    remedy: 'Send one field, with "-" before it for descending order. Use page instead of after_id.',
  },
  field_not_sortable: {
    cause: 'sort names a declared field, etag, created_by or changed_by.',
    remedy: 'Sort by a field of the resource. The message lists them.',
  },
  choice_invalid: {
    cause: 'The parameter does not have this value.',
    remedy: 'Send one of the values in expected.',
  },
  field_unknown: {
    cause: 'The resource has no such field.',
    remedy: 'Use a name in expected; the reference lists them.',
  },
  field_empty: {
    cause: 'A list of fields has an empty name.',
    remedy: 'Remove the comma.',
  },
  field_not_filterable: {
    cause: 'A filter names etag.',
    remedy: 'Name it in fields, and filter by another field.',
  },
  field_not_for_summary: {
    cause:
      'sum or avg of a field that is not a number, min or max of a text or boolean, or created_by or changed_by.',
    remedy: 'Name a field in expected.',
  },
  group_unit_invalid: {
    cause: 'group has a timestamp without unit, another field with one, or a field twice.',
    remedy: 'Write a timestamp as create_date:month, and any other field as its name.',
  },
  summary_too_large: {
    cause: 'A summary has more than 2 fields in group, or 20 in sum, min, max and avg.',
    remedy: 'Send several requests, or an export.',
  },
  groups_too_many: {
    cause: 'A summary has more than 1000 groups.',
    remedy: 'Narrow the filter, or group by a field with fewer values. An export has every record.',
  },
  operator_not_for_type: {
    cause: "The field's type does not support the operator, such as > on a text.",
    remedy: 'Use an operator in expected.',
  },
  value_not_for_type: {
    cause: "The value does not fit the field's type, such as active=yes.",
    remedy: 'Send a value of that type: true or false, a number, or an ISO 8601 date or time.',
  },
  value_out_of_range: {
    cause: "The number or date is outside the field's range.",
    remedy: 'Send a value within the range that the message names.',
  },
  value_null_not_comparable: {
    cause: 'null is used with an operator other than =, !=, [] and ![].',
    remedy: 'Compare with = or !=. The text "null" needs quotes.',
  },
  value_empty: { cause: 'The operator * or !* has no text.', remedy: 'Add a text, or remove the condition.' },
  member_required: {
    cause: 'The body lacks a required member.',
    remedy: 'Add the member that pointer names.',
  },
  member_unknown: {
    cause: 'The record has no such member, or it cannot be written.',
    remedy: 'Remove the member that pointer names.',
  },
  member_invalid: {
    cause: 'A member has a wrong type or value.',
    remedy: 'Correct the member that pointer names; the message says what it accepts.',
  },
  value_taken: {
    place: 'errors of a 409 key_taken',
    cause: 'Another record has this value of a unique field; record is its id.',
    remedy: 'Send another value, or change that record.',
  },
  json_invalid: { cause: 'The body is not a JSON object.', remedy: 'Send one JSON object, in UTF-8.' },
  content_type_invalid: {
    place: 'errors of a 400 or 415 response',
    cause: 'The Content-Type is missing, malformed, not supported here, or its charset is not UTF-8.',
    remedy: 'Send a type in expected.',
  },
  header_invalid: {
    cause: 'A header is invalid, repeated, or one that this write does not take.',
    remedy: 'Correct the header that parameter names; the message says what it accepts.',
  },
}

const tooMuch = { cause: 'The filter exceeds a limit, which the message names.' }
const filterFaults: Record<FilterErrorCode, Text> = {
  filter_empty: { cause: 'The filter is empty.', remedy: 'Omit the parameter to list all records.' },
  filter_field_expected: {
    cause: 'A condition does not begin with a field name.',
    remedy: 'Write each condition as field, operator, value: name*bolt.',
  },
  filter_operator_expected: {
    cause: 'A field name is not followed by an operator.',
    remedy: 'Add one of = != * !* > >= < <= [] ![].',
  },
  filter_quote_unclosed: {
    cause: 'A quoted value has no closing quote.',
    remedy: 'Add the quote. Within quotes, write \\" for a quote.',
  },
  filter_escape_unfinished: {
    cause: 'A backslash is the last character, or in quotes precedes a character other than " or \\.',
    remedy: 'Write \\\\ for a backslash.',
  },
  filter_list_unclosed: { cause: 'A list has no closing ].', remedy: 'Add the ].' },
  filter_list_value_empty: {
    cause: 'A list is empty, or has nothing between two commas.',
    remedy: 'Remove the comma. The empty text is "".',
  },
  filter_group_unclosed: { cause: 'A ( has no closing ).', remedy: 'Add the ).' },
  filter_unexpected: {
    cause: 'A complete condition is followed by something other than & or |.',
    remedy: 'Combine conditions with & or |, and put values with special characters into quotes.',
  },
  filter_too_many_conditions: { ...tooMuch, remedy: 'Use a list, id[1,2,3], instead of many conditions.' },
  filter_too_many_values: { ...tooMuch, remedy: 'Send several requests.' },
  filter_too_deep: { ...tooMuch, remedy: 'Use fewer groups within each other.' },
  filter_too_long: {
    ...tooMuch,
    remedy: 'Send the filter in the body of a QUERY request, or send several requests.',
  },
}

const deliveries: Record<Exclude<FailedDelivery, ClientCode>, Text> = {
  status: {
    cause: 'The receiver responded with a status other than 2xx.',
    remedy: 'Correct the receiver. The messages are sent again for five days.',
  },
  challenge: {
    cause: 'The receiver did not return the challenge.',
    remedy: 'Return the challenge from the request body, then activate the webhook.',
  },
  timeout: {
    cause: 'The receiver did not respond in time.',
    remedy: 'Respond first, and process the message afterwards.',
  },
  certificate_invalid: {
    cause: "The receiver's certificate was not accepted.",
    remedy: 'Install a valid certificate with its complete chain.',
  },
  address_forbidden: {
    cause: 'The host name leads to an address outside the public internet.',
    remedy: 'Use a public address, or ask your operator to allow the network.',
  },
  secret: {
    cause: "Nothing was sent: the secret's master key was removed.",
    remedy:
      'Rotate the secret and configure the receiver with the new one, or ask your operator to restore the master key.',
  },
  url_forbidden: {
    cause: 'The service does not send to this URL, such as one without https.',
    remedy: "Change the webhook's URL.",
  },
  aborted: {
    cause: 'The service shut down while it sent the message.',
    remedy: 'Nothing: the message is sent again.',
  },
}

const client: Record<ClientCode, Text> = {
  connection_failed: {
    place: `${inClient}; ${inDeliveries}`,
    cause: 'The connection could not be opened, or broke.',
    remedy:
      'Check that the server runs and is reachable. The client retries by itself; a failed delivery is sent again.',
  },
  host_unknown: {
    place: `${inClient}; ${inDeliveries}`,
    cause: 'The host name cannot be resolved.',
    remedy: "Correct baseUrl, or the webhook's URL. Not every program resolves names below localhost.",
  },
  no_response: {
    place: 'the console',
    cause: 'The console got no usable response from the service.',
    remedy: 'Check your connection to the service, then try again.',
  },
  proxy_timeout: {
    cause: 'A proxy in front of the service responded with 504.',
    remedy: "Narrow the filter, or raise the proxy's timeout above the service's 10 seconds.",
  },
  proxy_unavailable: {
    cause: 'A proxy in front of the service responded that it cannot reach the service.',
    remedy: 'Retry. If it continues, ask your operator.',
  },
  response_unexpected: {
    cause: 'The response does not come from Quartermaster, but for example from a proxy or a portal.',
    remedy: 'Check baseUrl and what is between the program and the service.',
  },
  stream_truncated: {
    cause: 'An export ended before its last line.',
    remedy: 'Start it again: the records read so far are incomplete.',
  },
  timed_out: {
    cause: 'No complete response arrived within the time that the program allows.',
    remedy: 'Retry, narrow the filter, or allow more time with timeoutMs.',
  },
  tls_failed: {
    cause: "The host's TLS certificate is not trusted.",
    remedy: 'Install a valid certificate, or make the program trust its issuer (NODE_EXTRA_CA_CERTS).',
  },
  webhook_invalid: {
    place: 'errors of verifyWebhook in the TypeScript client',
    cause:
      'A webhook message is not signed with your secret, was changed on its way, or is more than five minutes old or in the future.',
    remedy:
      "Respond with 401. If you reject messages from Quartermaster, pass the body as it was received, check the secret, and set the receiver's clock.",
  },
}

function placed(place: string, texts: Readonly<Record<string, Text>>): Record<string, DetailText> {
  return Object.fromEntries(Object.entries(texts).map(([code, text]) => [code, { place, ...text }]))
}

export const detailTexts: Readonly<Record<string, DetailText>> = {
  ...placed(inErrors, faults),
  ...placed(inFilter, filterFaults),
  ...placed(inDeliveries, deliveries),
  ...placed(inClient, client),
}
