import { showControls } from '../text/show-controls.js'
import { Copy } from './copy.js'

/** Code or a body in a box that scrolls; what is copied is the exact text. `label` names it for screen readers and the button. */
export function CodeBlock ({ code, label }: { code: string, label: string }) {
  return (
    <div class='code'>
      {/* Can be focused, so that the keyboard scrolls it. */}
      <pre tabIndex={0} role='region' aria-label={label} dir='ltr'><code>{showControls(code)}</code></pre>
      <Copy text={code} label={label} isIconOnly />
    </div>
  )
}
