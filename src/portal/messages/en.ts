import { endpoints } from './en/endpoints.js'
import { problem } from './en/problem.js'
import { shell } from './en/shell.js'

/** All texts of the portal in English. */
export const en = { shell, problem, endpoints }
