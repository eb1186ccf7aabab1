import t from 'tap'
import { createPostgresStore } from '../fixtures/postgres/tenant-store.js'
import { testDoors } from './doors/index.js'

testDoors(t, createPostgresStore)
