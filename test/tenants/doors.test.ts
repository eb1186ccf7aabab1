import t from 'tap'
import { testDoors } from './doors/index.js'
import { createPostgresStore } from '../fixtures/postgres/tenant-store.js'

testDoors(t, createPostgresStore)
