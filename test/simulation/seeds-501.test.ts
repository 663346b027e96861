import { keepsItsPromises } from './keeps-its-promises.ts'

keepsItsPromises(501, 500)
