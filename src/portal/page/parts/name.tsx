import { showControls } from '../text/show-controls.js'

/** A name or another text that somebody chose, in a direction of its own. */
export function Name ({ children }: { children: string }) {
  return <bdi class='name'>{showControls(children)}</bdi>
}

/** An address on one line, cut at its end. */
export function Url ({ children }: { children: string }) {
  const shown = showControls(children)
  return <p class='url' dir='ltr' title={shown}>{shown}</p>
}
