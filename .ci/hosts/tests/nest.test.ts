import 'reflect-metadata'
import { Controller, Inject, Injectable, Module, Post } from '@nestjs/common'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import { Test } from '@nestjs/testing'
import recruitingApi, { createRecruiting, type Recruiting, type StandaloneRecruiting } from 'fastify-recruiting-api'
import { memoryKeyLookup, memoryStorage } from 'fastify-recruiting-api/memory'
import { recordEvents } from 'fastify-recruiting-api/testing'

const kRecruiting = Symbol('recruiting')
const storage = memoryStorage({
  tenants: { acme: { jobs: [{ id: 1, name: 'Backend Engineer', status: 'published' }] } }
})

@Injectable()
class Applications {
  constructor (@Inject(kRecruiting) private readonly recruiting: Recruiting) {}

  apply () {
    const data = { id: 1, candidate_id: 1, job_id: 1 }
    return this.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data })
  }
}

@Controller('apply')
class ApplyController {
  constructor (@Inject(Applications) private readonly applications: Applications) {}

  @Post()
  apply () {
    return this.applications.apply()
  }
}

@Module({
  controllers: [ApplyController],
  providers: [
    Applications,
    { provide: kRecruiting, useFactory: () => createRecruiting({ storage }) }
  ]
})
class AppModule {}

test('a Nest application serves the API beside its own routes and emits from a service', async () => {
  const testing = await Test.createTestingModule({ imports: [AppModule] }).compile()
  const app = testing.createNestApplication<NestFastifyApplication>(new FastifyAdapter())
  const recruiting = app.get<Recruiting>(kRecruiting)
  await app.register(recruitingApi, {
    recruiting: app.get<StandaloneRecruiting>(kRecruiting),
    keyLookup: memoryKeyLookup([{ key: 'acme-secret-key', tenantSlug: 'acme', scopes: ['jobs:read'] }])
  })
  try {
    await app.listen(0, '127.0.0.1')
    const url = await app.getUrl()
    const headers = { authorization: 'Bearer acme-secret-key' }
    const jobs = await fetch(`${url}/api/v1/public/acme/jobs`, { headers })
    expect(await jobs.text()).toContain('Backend Engineer')
    const applied = await fetch(`${url}/apply`, { method: 'POST' })
    expect(await applied.text()).toContain('"deliveries":0')

    await recruiting.suspendTenant('acme')
    const suspended = await fetch(`${url}/api/v1/public/acme/jobs`, { headers })
    expect([suspended.status, await suspended.text()]).toEqual([403, expect.stringContaining('"suspended"')])
    expect((await fetch(`${url}/apply`, { method: 'POST' })).status).toBe(201)
    await recruiting.resumeTenant('acme', { pending: 'deliver' })
    expect((await fetch(`${url}/api/v1/public/acme/jobs`, { headers })).status).toBe(200)
  } finally {
    await app.close()
  }
})

test('a service is tested with a recorder, without a database', async () => {
  const { recruiting, of } = recordEvents()
  await new Applications(recruiting).apply()
  expect(of('application.created').map(({ data }) => data)).toEqual([{ id: 1, candidate_id: 1, job_id: 1 }])
})
