import { delivery } from './en/delivery.js'
import { endpoint } from './en/endpoint.js'
import { endpoints } from './en/endpoints.js'
import { form } from './en/form.js'
import { log } from './en/log.js'
import { problem } from './en/problem.js'
import { replay } from './en/replay.js'
import { secret } from './en/secret.js'
import { shell } from './en/shell.js'
import { test } from './en/test.js'

/** All texts of the portal in English. */
export const en = {
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
