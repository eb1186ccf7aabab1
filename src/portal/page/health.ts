import type { WebhookHealth, WebhookStatus } from './api/types.js'

/** How a webhook is doing, for the eye: every tone has an icon of its own. */
export type Tone = 'good' | 'waiting' | 'bad' | 'off'

/** The health of a webhook in one word, and its tone. */
export interface HealthWord {
  tone: Tone
  word: 'active' | 'failing' | 'paused' | 'disabled'
}

/** Returns the word for a webhook. Without its health, which lists do not have, by its status alone. */
export function healthWord (status: WebhookStatus, health: WebhookHealth | null): HealthWord {
  if (status === 'disabled') return { tone: 'bad', word: 'disabled' }
  if (status === 'inactive') return { tone: 'off', word: 'paused' }
  return health?.failing_since == null ? { tone: 'good', word: 'active' } : { tone: 'waiting', word: 'failing' }
}
