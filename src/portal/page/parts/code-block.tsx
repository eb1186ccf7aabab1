import { showControls } from '../text/show-controls.js'
import { Copy } from './copy.js'

/** Code or a body in a box that scrolls. `label` names it for screen readers and the button, which copies `exact`: `code` as it came. */
export function CodeBlock ({ code, exact = code, label }: { code: string, exact?: string, label: string }) {
  return (
    <div class='code'>
      {/* Can be focused, so that the keyboard scrolls it. */}
      <pre tabIndex={0} role='region' aria-label={label} dir='ltr'><code>{showControls(code)}</code></pre>
      <Copy text={exact} label={label} isIconOnly />
    </div>
  )
}
