/** The work of both senders. */
export interface Work {
  ports: number[]
  events: number
  concurrency: number
  perEndpoint: number
}

export interface Done {
  durationMs: number
  cpuMicros: number
}

export const eventType = (endpoint: number): string => `application.moved_${endpoint}`

/** Returns the data of an event, like an ATS's when an application changes its stage. */
export function createEventData (id: number): Record<string, unknown> {
  return {
    application_id: 100_000 + id,
    candidate: { id: 200_000 + id, full_name: 'Chloé Hernández' },
    job: { id: 42, name: 'Senior backend engineer' },
    from: { stage: 'phone_screen' },
    to: { stage: 'on_site' },
    moved_at: '2026-03-01T09:30:00.000Z'
  }
}
