import { openApi } from '../server/src/http/openapi/document.ts'

process.stdout.write(`${JSON.stringify(openApi, null, 2)}\n`)
