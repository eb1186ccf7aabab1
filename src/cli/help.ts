import type { Command } from './command.js'
import { commands } from './commands.js'
import { commonOptions } from './flags.js'
import { formatTable } from './output.js'

/** The name of the program. */
export const program = 'fastify-recruiting-api'

/** Describes every command. */
export function describeProgram (): string {
  const rows = Object.entries(commands).map(([name, { about }]) => [`  ${name}`, about])
  return `usage: ${program} COMMAND [OPTIONS]\n\n${formatTable(rows)}\n${program} COMMAND --help shows the options of a command. Exit codes: 0 done, 1 refused or a fault found, 2 wrong usage.\n`
}

/** Describes a command and its options. */
export function describeCommand (name: string, { args, options }: Command): string {
  const rows = Object.entries({ ...options, ...commonOptions }).map(([option, { value, about }]) =>
    [`  --${option}${value === null ? '' : ` ${value}`}`, about])
  const required = Object.entries(options).filter(([, { isRequired }]) => isRequired).map(([option, { value }]) => `--${option} ${value}`)
  const usage = ['usage:', program, name, ...args, ...required, '[OPTIONS]'].join(' ')
  return `${usage}\n\n${name} ${commands[name]?.about}.\n\n${formatTable(rows)}`
}
