import { keepsItsPromises } from './keeps-its-promises.ts'

keepsItsPromises(1, 1_000)
