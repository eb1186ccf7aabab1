import type { Webhook } from '../../api/types.js'
import { Button } from '../../parts/button.js'
import { Problem } from '../../parts/problem.js'
import { useSetStatus } from './use-set-status.js'

/** Makes a paused or disabled webhook active. */
export function ActivateButton ({ webhook, label, onChanged }: { webhook: Webhook, label: string, onChanged: () => void }) {
  const { run, isBusy, failure } = useSetStatus(webhook, 'active', onChanged)
  return (
    <>
      {failure !== null && <Problem failure={failure} />}
      <Button kind='primary' onClick={run} isBusy={isBusy}>{label}</Button>
    </>
  )
}
