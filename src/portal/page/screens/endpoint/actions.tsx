import { useState } from 'preact/hooks'
import type { Webhook } from '../../api/types.js'
import { Button } from '../../parts/button.js'
import { Link } from '../../parts/link.js'
import { useFormat, usePortal } from '../../state/portal.js'
import { TestDialog } from './test-dialog.js'

/** The frequent actions of a webhook. */
export function Actions ({ webhook }: { webhook: Webhook }) {
  const { can } = usePortal()
  const { messages: { endpoint, test } } = useFormat()
  const [isTesting, setTesting] = useState(false)
  return (
    <>
      {can('write') && <Link to={{ screen: 'edit', id: webhook.id }} look='button button-plain'>{endpoint.edit}</Link>}
      {can('test') && <Button kind='primary' onClick={() => setTesting(true)}>{test.action}</Button>}
      {isTesting && <TestDialog webhook={webhook} onClose={() => setTesting(false)} />}
    </>
  )
}
