// Generated from the texts of the server: npm run catalog -w console
export interface DeliveryError {
  readonly cause: string
  readonly remedy: string
}

export const deliveryErrors: Readonly<Record<string, DeliveryError>> = {
  status: {"cause":"The receiver responded with a status other than 2xx.","remedy":"Correct the receiver. The messages are sent again for five days."},
  challenge: {"cause":"The receiver did not return the challenge.","remedy":"Return the challenge from the request body, then activate the webhook."},
  timeout: {"cause":"The receiver did not respond in time.","remedy":"Respond first, and process the message afterwards."},
  certificate_invalid: {"cause":"The receiver's certificate was not accepted.","remedy":"Install a valid certificate with its complete chain."},
  address_forbidden: {"cause":"The host name leads to an address outside the public internet.","remedy":"Use a public address, or ask your operator to allow the network."},
  secret: {"cause":"Nothing was sent: the secret's master key was removed.","remedy":"Rotate the secret and configure the receiver with the new one, or ask your operator to restore the master key."},
  url_forbidden: {"cause":"The service does not send to this URL, such as one without https.","remedy":"Change the webhook's URL."},
  aborted: {"cause":"The service shut down while it sent the message.","remedy":"Nothing: the message is sent again."},
  connection_failed: {"cause":"The connection could not be opened, or broke.","remedy":"Check that the server runs and is reachable. The client retries by itself; a failed delivery is sent again."},
  host_unknown: {"cause":"The host name cannot be resolved.","remedy":"Correct baseUrl, or the webhook's URL. Not every program resolves names below localhost."},
}
