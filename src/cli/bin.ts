#!/usr/bin/env node
import { statSync } from 'node:fs'
import { run } from './main.js'
import { createIo } from './terminal.js'

// An .env file in the current folder sets variables that the environment lacks.
if (statSync('.env', { throwIfNoEntry: false })?.isFile()) process.loadEnvFile()
process.exitCode = await run(process.argv.slice(2), createIo(process))
