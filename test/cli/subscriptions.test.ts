import t from 'tap'
import { startCliHost } from '../fixtures/cli/cli.js'

t.test('commands list and end the subscriptions of agents, without their addresses', async (t) => {
  const { cli, storage: { subscriptions, feed, webhooks } } = await startCliHost(t)
  const limits = { perTenant: 10, perPrincipal: 10 }
  for (const [id, principal] of [['sub_1', 'key_1'], ['sub_2', 'key_1'], ['sub_3', 'key_2']] as const) {
    await subscriptions.put('acme', {
      id,
      webhookId: await webhooks.nextId('acme'),
      tenantSlug: 'acme',
      principal,
      targetUrl: 'https://agent.example/hook?token=hidden',
      eventType: 'job.created',
      filters: null,
      secret: 'x',
      gracePeriodSeconds: 0,
      ttlSeconds: 3600,
      position: await feed.end('acme'),
      isVerified: true
    }, limits)
  }
  const listed = await cli('subscriptions list --tenant acme')
  t.match(listed, { code: 0, out: /^id +key +event +callback +delivered +error +until\nsub_1 +key_1 +job\.created +agent\.example / })
  t.notMatch(listed.out, 'hidden')
  const ids = async (more = '') => (JSON.parse((await cli(`subscriptions list --tenant acme --json${more}`)).out) as Array<{ id: string }>).map(({ id }) => id)
  t.strictSame(await ids(' --principal key_2'), ['sub_3'])
  t.match(await cli('subscriptions end --tenant acme --yes'), { code: 1, err: /add either --id ID or --principal ID/ })
  t.match(await cli('subscriptions end --tenant acme --id sub_9 --yes'), { code: 1, err: /the tenant has no such subscription/ })
  t.match(await cli('subscriptions end --tenant globex --id sub_1 --yes'), { code: 1, err: /the tenant has no such subscription/ })
  t.match(await cli('subscriptions end --tenant acme --id sub_3 --yes'), { code: 0, out: 'ended 1 subscription\n' })
  t.match(await cli('subscriptions end --tenant acme --principal key_1 --yes'), { code: 0, out: 'ended 2 subscriptions\n' })
  t.match(await cli('subscriptions list --tenant acme'), { code: 0, out: 'no subscriptions\n' })
})
