import t from 'tap'
import { testDoors } from './doors/index.js'
import { createMemoryStore } from '../fixtures/tenants/memory-store.js'
import { createPostgresStore } from '../fixtures/postgres/tenant-store.js'

testDoors(t, createMemoryStore)

testDoors(t, createPostgresStore)
