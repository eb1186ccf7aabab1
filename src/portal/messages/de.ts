import { delivery } from './de/delivery.js'
import { endpoint } from './de/endpoint.js'
import { endpoints } from './de/endpoints.js'
import { form } from './de/form.js'
import { log } from './de/log.js'
import { problem } from './de/problem.js'
import { replay } from './de/replay.js'
import { secret } from './de/secret.js'
import { shell } from './de/shell.js'
import { test } from './de/test.js'
import type { PortalMessages } from './types.js'

/** All texts of the portal in German. */
export const de: PortalMessages = {
  shell,
  problem,
  endpoints,
  form,
  secret,
  endpoint,
  test,
  log,
  delivery,
  replay
}
