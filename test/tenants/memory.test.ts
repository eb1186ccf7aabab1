import t from 'tap'
import { createMemoryStore } from '../fixtures/tenants/memory-store.js'
import { testDoors } from './doors/index.js'

testDoors(t, createMemoryStore)
