import type { ComponentChildren } from 'preact'
import { fillParts } from '../text/fill.js'

/** A text with elements in place of its placeholders: `<Fill text={…} with={{ name: <b>…</b> }} />`. */
export function Fill ({ text, with: values }: { text: string, with: Readonly<Record<string, ComponentChildren>> }) {
  return <>{fillParts(text, values).map((part, index) => typeof part === 'string' ? part : <bdi key={index}>{part.value}</bdi>)}</>
}
