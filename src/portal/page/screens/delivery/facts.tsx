import type { ComponentChildren } from 'preact'
import { Copy } from '../../parts/copy.js'
import { Name } from '../../parts/name.js'

/** A line of a `<dl>`. */
export function Fact ({ label, children }: { label: string, children: ComponentChildren }) {
  return <div><dt>{label}</dt><dd class='with-copy'>{children}</dd></div>
}

/** A fact that is needed elsewhere. */
export function CopyFact ({ label, text }: { label: string, text: string }) {
  return <Fact label={label}><code class='whole'><Name>{text}</Name></code> <Copy text={text} label={label} isIconOnly /></Fact>
}
