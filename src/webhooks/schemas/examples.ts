/** An event id for examples in the document. */
export const eventIdExample = 'evt_4f3c0a6d5b8e4a7c9d1e2f3a4b5c6d7e'

/** The body of a notification for examples in the document. */
export const bodyExample = JSON.stringify({
  id: eventIdExample, type: 'application.created', timestamp: '2026-03-01T09:30:00.000Z', tenant_slug: 'acme', data: { id: 1 }
})
