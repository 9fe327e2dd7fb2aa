import { bench } from './command.ts'
import { suites } from './suites.ts'

process.exitCode = await bench(process.argv.slice(2), suites)
