import { endpoints } from './de/endpoints.js'
import { problem } from './de/problem.js'
import { shell } from './de/shell.js'
import type { PortalMessages } from './types.js'

/** All texts of the portal in German. */
export const de: PortalMessages = { shell, problem, endpoints }
