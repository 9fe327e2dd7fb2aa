import { sendFirstRequest } from './api/first-request.ts'

/** The build makes this module a script of its own, which is executed before the application is loaded. */
sendFirstRequest()
