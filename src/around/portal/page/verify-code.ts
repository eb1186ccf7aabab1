/** Programs that verify a notification, in four languages. A test runs them. */
export const verifyCodes = {
  JavaScript: `// npm install standardwebhooks
import { createServer } from 'node:http'
import { Webhook } from 'standardwebhooks'

const webhook = new Webhook(process.env.WEBHOOK_SECRET)

const server = createServer(async (request, response) => {
  try {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const event = webhook.verify(Buffer.concat(chunks), request.headers)
    // Events can arrive twice: skip ids that you have already processed.
    console.log(event.type, event.id)
    response.writeHead(204).end()
  } catch {
    response.writeHead(401).end()
  }
})

server.listen(process.env.PORT ?? 3000)
`,
  Python: `import base64
import hashlib
import hmac
import json
import os
import time

KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))


def verify(body: bytes, headers) -> dict:
    """Returns the event. Raises ValueError if the request is not genuine.

    Flask: verify(request.get_data(), request.headers)
    Django: verify(request.body, request.headers)
    """
    event_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    signatures = headers.get("webhook-signature", "").split(" ")
    if abs(time.time() - int(timestamp)) > 300:
        raise ValueError("the request is too old")
    content = f"{event_id}.{timestamp}.".encode() + body
    digest = hmac.new(KEY, content, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    if not any(hmac.compare_digest(expected, s.encode()) for s in signatures):
        raise ValueError("the signature is wrong")
    # Events can arrive twice: skip ids that you have already processed.
    return json.loads(body)
`,
  PHP: `<?php
$body = file_get_contents('php://input');
$id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
$timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
$signatures = explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '');

$key = base64_decode(substr(getenv('WEBHOOK_SECRET'), strlen('whsec_')));
$digest = hash_hmac('sha256', "$id.$timestamp.$body", $key, true);
$expected = 'v1,' . base64_encode($digest);

$isGenuine = false;
foreach ($signatures as $signature) {
    $isGenuine = $isGenuine || hash_equals($expected, $signature);
}
if (!$isGenuine || abs(time() - (int) $timestamp) > 300) {
    http_response_code(401);
    exit;
}

// Events can arrive twice: skip ids that you have already processed.
$event = json_decode($body, true);
error_log("{$event['type']} {$event['id']}");
http_response_code(204);
`,
  Go: `package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// Verify returns the body of a genuine request, as JSON.
// Events can arrive twice: skip ids that you have already processed.
func Verify(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_"))
	if err != nil {
		return nil, err
	}
	id, timestamp := r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return nil, errors.New("the request is too old")
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, signature := range strings.Fields(r.Header.Get("webhook-signature")) {
		if hmac.Equal([]byte(signature), []byte(expected)) {
			return body, nil
		}
	}
	return nil, errors.New("the signature is wrong")
}
`
}
