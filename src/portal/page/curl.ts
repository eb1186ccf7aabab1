/** A request of a delivery, without what is new at each attempt. */
interface SentRequest {
  url: string
  eventId: string
  body: string
  /** The names of the webhook's own headers, whose values nobody sees. */
  headerNames: readonly string[]
}

/**
 * Returns a shell script that sends the request again, as a new attempt would: with the time, and signed with the
 * secret in the variable WEBHOOK_SECRET. Endpoints refuse the signature of an earlier time, as they should.
 */
export function curlCommand ({ url, eventId, body, headerNames }: SentRequest): string {
  const headers = headerNames.map((name) => `  -H ${quote(`${name}: <value>`)} \\\n`).join('')
  return `: "\${WEBHOOK_SECRET:?Set it to the signing secret of the webhook}"
ID=${quote(eventId)}
BODY=${quote(body)}
TIMESTAMP=$(date +%s)
KEY=$(printf %s "\${WEBHOOK_SECRET#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \\n')
SIGNATURE=$(printf %s "$ID.$TIMESTAMP.$BODY" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | base64)
curl -i --globoff ${quote(url)} \\
  -H 'content-type: application/json' \\
  -H "webhook-id: $ID" \\
  -H "webhook-timestamp: $TIMESTAMP" \\
  -H "webhook-signature: v1,$SIGNATURE" \\
${headers}  --data-binary "$BODY"
`
}

/** Quotes a text for POSIX shells, in which nothing has a meaning within single quotes. */
function quote (text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
