import { keepsItsPromises } from './keeps-its-promises.ts'

keepsItsPromises(1501, 500)
