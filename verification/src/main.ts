import { verify } from './command.ts'
import { suites } from './suites.ts'

process.exitCode = await verify(process.argv.slice(2), suites)
