import { useFormat, usePortal } from './hooks.js'
import { Copy } from './parts/controls.js'

/** The addresses that notifications come from, as a fact. The vendor must have named some. */
export function SourceIps () {
  const { sourceIps } = usePortal()
  const { messages: { endpoint: { details: texts } } } = useFormat()
  const shown = sourceIps.join(', ')
  return (
    <>
      <dt>{texts.sourceIps}</dt>
      <dd>
        <p class='with-copy'>
          <span class='whole' dir='ltr'>
            {shown}
          </span>{' '}
          <Copy text={shown} label={texts.sourceIps} isIconOnly />
        </p>
        <p class='hint'>{texts.sourceIpsHint}</p>
      </dd>
    </>
  )
}
