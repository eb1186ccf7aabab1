/** Embeddings, overrides and isolates. Marks such as U+200E are left: names in Arabic and Hebrew need them. */
const controls = /[\u202a-\u202e\u2066-\u2069]/g

/** Writes characters that reorder the text around them as their escapes, so that an address or a body reads as it is. */
export function showControls (text: string): string {
  return text.replaceAll(controls, (character) => `\\u${character.charCodeAt(0).toString(16)}`)
}
