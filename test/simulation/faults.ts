import { readFile } from 'node:fs/promises'
import { build, type Plugin } from 'esbuild'

/** A replacement in a source file. */
interface Edit {
  file: string
  from: string
  to: string
}

/** Faults for copies of the engine and the storage. A simulation that does not find them proves nothing. */
export const faults: Readonly<Record<string, readonly Edit[]>> = {
  'results of lost leases count': [
    {
      file: 'src/storages/memory/deliveries/attempts.ts',
      from: "delivery.lease === 'none' || delivery.fence !== result.fence",
      to: "delivery.lease === 'none'"
    }
  ],
  'leases are not released on close': [
    { file: 'src/core/webhooks/queue/worker.ts', from: 'await release(problem)', to: '' }
  ],
  'results are written twice': [
    {
      file: 'src/storages/memory/deliveries/attempts.ts',
      from: 'delivery.attempts.push(',
      to: 'delivery.attempts.push(delivery.attempts[0] ?? { startedAt: now, durationMs, responseStatus, error, responseExcerpt }); delivery.attempts.push('
    }
  ],
  'retries count from the start of the attempt': [
    {
      file: 'src/storages/memory/deliveries/attempts.ts',
      from: 'now + result.retryInMs',
      to: 'now - result.durationMs + result.retryInMs'
    }
  ],
  'a replay ignores filters': [
    {
      file: 'src/storages/memory/deliveries/deliveries.ts',
      from: 'createFilterTest(event.body)(webhook.filters, webhook.changed)',
      to: 'true'
    }
  ],
  'an old secret signs after its grace period': [
    {
      file: 'src/storages/memory/deliveries/records.ts',
      from: 'previousSecret !== null && now < previousSecretExpiresAt',
      to: 'previousSecret !== null'
    }
  ],
  'a wake-up is lost': [
    {
      file: 'src/core/webhooks/queue/worker.ts',
      from: 'deliveries.onDue(takeDue,',
      to: 'deliveries.onDue(() => {},'
    }
  ],
  'an erasure does not cancel pending deliveries': [
    {
      file: 'src/storages/memory/deliveries/deliveries.ts',
      from: "if (delivery.status !== 'pending') continue\n    data.pending.stop",
      to: 'continue\n    data.pending.stop'
    }
  ],
  'the timeout starts before the wait for a slot': [
    {
      file: 'src/core/webhooks/queue/worker.ts',
      from: 'leases.set(delivery.deliveryId, delivery)',
      to: 'delivery.startedAt = clock.monotonic(); leases.set(delivery.deliveryId, delivery)'
    },
    {
      file: 'src/core/webhooks/queue/attempt-delivery.ts',
      from: '{ tenantId, targetUrl: url, body }: ClaimedDelivery',
      to: '{ tenantId, targetUrl: url, body, startedAt }: ClaimedDelivery & { startedAt: number }'
    },
    {
      file: 'src/core/webhooks/queue/attempt-delivery.ts',
      from: 'body, timeoutMs, excerptBytes',
      to: 'body, timeoutMs: timeoutMs - (clock.monotonic() - startedAt), excerptBytes'
    }
  ],
  'a tenant gets all places': [
    { file: 'src/storages/memory/deliveries/queue.ts', from: 'if (places !== undefined &&', to: 'if (false && places !== undefined &&' },
    { file: 'src/core/shared/places.ts', from: 'free <= held ||', to: 'free <= 0 ||' },
    { file: 'src/core/webhooks/sending/capacity.ts', from: 'places.free > (places.heldBy.get(tenantId) ?? 0)', to: 'places.free > 0' }
  ],
  'claimed deliveries wait for attempts of other tenants that hang': [
    {
      file: 'src/core/webhooks/queue/worker.ts',
      from: 'if (size === 0 || capacity.free === 0) return undefined',
      to: 'if (size === 0 || capacity.heldBy.size > 0) return undefined'
    }
  ],
  'every worker leases ahead': [
    {
      file: 'src/storages/memory/deliveries/queue.ts',
      from: 'leaseCount === (own.get(webhook) ?? 0) ? aheadPerEndpoint : perEndpoint',
      to: 'aheadPerEndpoint'
    }
  ],
  'each failed attempt tells other webhooks, which fail too': [
    { file: 'src/storages/memory/deliveries/attempts.ts', from: ' && !webhook.isWarned', to: '' }
  ],
  'a webhook gets events about itself': [
    { file: 'src/storages/memory/deliveries/deliveries.ts', from: 'webhook !== except && ', to: '' }
  ],
  'retries of failed writes use the wall clock': [
    { file: 'src/core/webhooks/queue/worker.ts', from: 'clock.monotonic()', to: 'clock.now()' }
  ],
  "an agent's cursor passes pending events": [
    { file: 'src/storages/memory/webhook-data.ts', from: 'agent.subscription?.position ?? 0, ...pending', to: 'agent.subscription?.position ?? 0' }
  ],
  'emits queue deliveries for agents': [
    { file: 'src/storages/memory/deliveries/deliveries.ts', from: 'webhook.subscription === null && webhook.eventTypes', to: 'webhook.eventTypes' }
  ]
}

/** Compiles the simulation with a fault. Throws if the source no longer contains the replaced text. */
export async function compileFaulty (root: string, edits: readonly Edit[], outfile: string): Promise<void> {
  const made = new Set<Edit>()
  const plugin: Plugin = {
    name: 'fault',
    setup ({ onLoad }) {
      onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
        const own = edits.filter(({ file }) => path.endsWith(`/${file}`))
        if (own.length === 0) return undefined
        let contents = await readFile(path, 'utf8')
        for (const edit of own) {
          if (!contents.includes(edit.from)) throw new Error(`${edit.file} no longer has ${edit.from}`)
          contents = contents.replaceAll(edit.from, edit.to)
          made.add(edit)
        }
        return { contents, loader: 'ts' }
      })
    }
  }
  await build({
    entryPoints: [`${root}test/simulation/simulate.ts`],
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'silent',
    outfile,
    plugins: [plugin]
  })
  const missing = edits.find((edit) => !made.has(edit))
  if (missing !== undefined) throw new Error(`the simulation no longer uses ${missing.file}`)
}
