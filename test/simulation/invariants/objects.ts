import type { MemoryObjectStore } from '../memory/memory-object-store.ts'
import type { Tables } from '../memory/tables.ts'
import type { Report } from './violation.ts'

/** Invariants 1 and 5, the part that the object store owes: what the rows promise reads back. */
export function checkObjects(tables: Tables, store: MemoryObjectStore, report: Report): void {
  for (const { jobId, deletedAt, objectKey, original, outputs } of tables.jobs.values()) {
    if (deletedAt !== null) continue
    const kept = store.look(objectKey)
    if (kept?.sha256 !== original.sha256 || kept.bytes !== original.bytes) {
      report('accepted_is_durable', `${jobId}: its original ${kept ? 'has other bytes' : 'is gone'}`)
    }
    for (const { key, sha256, bytes } of outputs ?? []) {
      const output = store.look(key)
      if (output?.sha256 !== sha256 || output.bytes !== bytes) {
        report('outputs_exist', `${jobId}: output ${key} ${output ? 'has other bytes' : 'does not exist'}`)
      }
    }
  }
}
