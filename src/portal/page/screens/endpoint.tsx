import { useState } from 'preact/hooks'
import type { RotatedWebhook } from '../api/types.js'
import { Name } from '../parts/name.js'
import { Problem } from '../parts/problem.js'
import { Screen } from '../parts/screen.js'
import { Skeleton } from '../parts/skeleton.js'
import { useFormat, usePortal } from '../state/portal.js'
import { useEvery } from '../state/time.js'
import { useQuery } from '../state/use-query.js'
import { Actions } from './endpoint/actions.js'
import { Details } from './endpoint/details.js'
import { HealthNotice } from './endpoint/health-notice.js'
import { Manage } from './endpoint/manage.js'
import { Summary } from './endpoint/summary.js'
import { Log } from './log/log.js'
import { SecretScreen } from './secret.js'

/** One webhook: how it is doing, and all that can be done with it. */
export function EndpointScreen ({ id }: { id: number }) {
  const { api } = usePortal()
  const { messages: { shell } } = useFormat()
  const query = useQuery((signal) => api.findWebhook(id, signal), [id])
  const [rotated, setRotated] = useState<RotatedWebhook | null>(null)
  const webhook = query.value?.data
  useEvery(webhook === undefined || rotated !== null ? null : 10_000, query.reload)
  if (rotated !== null) return <SecretScreen webhook={rotated} onStored={() => setRotated(null)} />
  return (
    <Screen
      title={<Name>{webhook?.name ?? '…'}</Name>}
      intro={webhook && <Summary webhook={webhook} />}
      actions={webhook && <Actions webhook={webhook} />}
      back={{ to: { screen: 'endpoints' }, label: shell.title }}
    >
      {query.failure !== null && <Problem failure={query.failure} onRetry={query.reload} isBusy={query.isLoading} />}
      {webhook === undefined
        ? query.failure === null && <Skeleton lines={4} />
        : (
          <>
            <HealthNotice webhook={webhook} onChanged={query.reload} />
            <div class='columns'>
              <Details webhook={webhook} />
              <Manage webhook={webhook} onChanged={query.reload} onRotated={setRotated} />
            </div>
            <Log webhook={webhook} />
          </>
          )}
    </Screen>
  )
}
