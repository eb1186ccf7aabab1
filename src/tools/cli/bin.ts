#!/usr/bin/env node
import { run } from './main.js'
import { createIo } from './terminal.js'

process.exitCode = await run(process.argv.slice(2), createIo(process))
