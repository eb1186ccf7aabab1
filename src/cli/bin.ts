#!/usr/bin/env node
import { readFileSync, statSync } from 'node:fs'
import { run } from './main.js'
import { readEnvFile } from './secrets.js'
import { createIo } from './terminal.js'

const argv = process.argv.slice(2)
if (statSync('.env', { throwIfNoEntry: false })?.isFile()) {
  Object.assign(process.env, readEnvFile(readFileSync('.env', 'utf8'), process.env, argv))
}
process.exitCode = await run(argv, createIo(process))
