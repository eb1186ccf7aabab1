import type { Tone } from '../health.js'
import { Icon } from './icon.js'

/** A state as an icon and a word: never by its colour alone. */
export function Status ({ tone, children }: { tone: Tone, children: string }) {
  return <span class={`status status-${tone}`}><Icon name={tone} /> <span>{children}</span></span>
}
