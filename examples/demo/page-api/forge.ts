/** Sends a forged event to the receiver, without the secret. Returns the response's status. */
export async function forge (receiverUrl: string, tenantSlug: string): Promise<number> {
  const { status } = await fetch(`${receiverUrl}/${tenantSlug}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': 'evt_forged',
      'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
      'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`
    },
    body: JSON.stringify({
      id: 'evt_forged',
      type: 'application.hired',
      tenant_slug: tenantSlug,
      data: { candidate_name: 'Mallory' }
    })
  })
  return status
}
