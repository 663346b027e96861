import { keepsItsPromises } from './keeps-its-promises.ts'

keepsItsPromises(1_001, 1_000)
