<?php
// Receives webhooks of Quartermaster: verifies the signature of each message. To try it: php -S 127.0.0.1:4000 webhook-receiver.php

const TOLERANCE_SECONDS = 300;
const BYTES_MAX = 1024 * 1024;

/** Whether the message is from Quartermaster, unchanged and recent. */
function is_genuine(string $key, array $server, string $body): bool
{
    $timestamp = $server['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) {
        return false;
    }
    $id = $server['HTTP_WEBHOOK_ID'] ?? '';
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    // While a secret is rotated there are two signatures, separated by a space.
    foreach (explode(' ', $server['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $received) {
        if (hash_equals($expected, $received)) {
            return true;
        }
    }
    return false;
}

$key = base64_decode(preg_replace('/^whsec_/', '', getenv('WEBHOOK_SECRET')));
// The bytes as they were received: the signature is of these.
$body = file_get_contents('php://input', false, null, 0, BYTES_MAX);
if (!is_genuine($key, $_SERVER, $body)) {
    http_response_code(401);
    exit;
}
$data = json_decode($body, true)['data'];
foreach ($data['changes'] ?? [] as $change) {
    // Apply it to your copy, unless that has a higher version: a retry may arrive after a newer message.
    error_log("{$change['change']} {$change['id']} at version {$change['version']}");
}
// A challenge is returned; every other message needs only a status of 2xx.
echo $data['challenge'] ?? '';
