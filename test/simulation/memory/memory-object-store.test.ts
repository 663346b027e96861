import { objectStoreConformance } from '../../conformance/object-store.ts'
import { createMemoryObjectStore } from './memory-object-store.ts'

objectStoreConformance('memory', async () => ({
  store: createMemoryObjectStore(Date.now),
  close: async () => {},
}))
