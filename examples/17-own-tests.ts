// Tests that your own code emits the right events and data. They need no database and no receiver, and run in any test
// runner; this is Node's own.
//
// npm install @sinclair/typebox@0.34
// tsx --test examples/17-own-tests.ts

import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { Type } from '@sinclair/typebox'
import type { Recruiting } from 'fastify-recruiting-api'
import { recordEvents } from 'fastify-recruiting-api/testing'

const events = { 'application.hired': Type.Object({ id: Type.Integer(), start: Type.String({ format: 'date' }) }) }

interface Database {
  transaction (work: (tx: object) => Promise<void>): Promise<void>
  update (tx: object, id: number): Promise<void>
}

/** Your code. */
async function hire (
  database: Database,
  recruiting: Recruiting<typeof events>,
  id: number,
  start: string
): Promise<void> {
  await database.transaction(async (tx) => {
    await recruiting.emit({ tenantSlug: 'acme', type: 'application.hired', data: { id, start } }, { transaction: tx })
    await database.update(tx, id)
  })
}

const recorder = recordEvents({ events })

/** Your fake database, which reports each commit and rollback to the recorder. */
const database: Database = {
  async transaction (work) {
    const tx = {}
    try {
      await work(tx)
      recorder.commit(tx)
    } catch (error) {
      recorder.rollback(tx)
      throw error
    }
  },
  async update (_tx, id) {
    if (id === 404) throw new Error('no such application')
  }
}

beforeEach(() => recorder.clear())

test('hiring emits an event with the first day', async () => {
  await hire(database, recorder.recruiting, 7, '2026-04-01')
  assert.deepEqual(recorder.of('application.hired').map(({ data }) => data), [{ id: 7, start: '2026-04-01' }])
})

test('a rolled-back hire emits nothing', async () => {
  await assert.rejects(hire(database, recorder.recruiting, 404, '2026-04-01'), /no such application/)
  assert.deepEqual(recorder.events, [])
})

test('data that does not match the catalogue is rejected, as in production', async () => {
  await assert.rejects(hire(database, recorder.recruiting, 7, 'tomorrow'), /data\.start: must match format "date"/)
})
