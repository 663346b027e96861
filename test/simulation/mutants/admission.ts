import { DependencyError } from '../../../core/errors.ts'
import { collect } from '../memory/memory-object-store.ts'
import { insertOutboxRow, recordId } from '../memory/tables.ts'
import type { Mutant } from './mutant.ts'

export const admissionMutants: Mutant[] = [
  {
    name: 'outbox outside the transaction',
    wrong: 'the job is committed first, and its outbox row in a transaction of its own',
    mutateTables: (jobs, tables) => ({
      ...jobs,
      async accept(job) {
        const outcome = await jobs.accept(job)
        tables.outbox.delete(job.jobId)
        return outcome
      },
    }),
    mutate: (ports, process, { tables }) => ({
      ...ports,
      jobs: {
        ...ports.jobs,
        async accept(job) {
          const outcome = await ports.jobs.accept(job)
          await ports.jobs.ping()
          if (process.alive() && tables.jobs.has(job.jobId)) insertOutboxRow(tables, job.jobId)
          return outcome
        },
      },
    }),
  },
  {
    name: 'original deleted after an unknown commit',
    wrong: 'a commit without an answer is taken for one that did not happen',
    mutate: (ports) => ({
      ...ports,
      jobs: {
        ...ports.jobs,
        accept: (job) =>
          ports.jobs.accept(job).catch(async (error) => {
            await ports.objectStore.delete([job.objectKey], new AbortController().signal)
            throw error
          }),
      },
    }),
  },
  {
    name: 'commit before the object is stored',
    wrong: 'the put is not waited for',
    mutate: (ports, { actor }) => ({
      ...ports,
      objectStore: {
        ...ports.objectStore,
        async put(object, signal) {
          if (actor !== 'api') return ports.objectStore.put(object, signal)
          const body = await collect(object.body)
          ports.objectStore.put({ ...object, body }, new AbortController().signal).catch(() => {})
        },
      },
    }),
  },
  {
    name: 'acceptance without the token',
    wrong: 'an upload whose reservation went to another is committed all the same',
    mutateTables: (jobs, tables) => ({
      ...jobs,
      async accept(job) {
        const outcome = await jobs.accept(job)
        if (outcome.kind === 'accepted' || !job.idempotency) return outcome
        const { key, fingerprint } = job.idempotency
        const record = tables.idempotencyRecords.get(recordId({ tenant: job.tenant, key }))
        if (record) Object.assign(record, { jobId: job.jobId, fingerprint })
        return jobs.accept({ ...job, idempotency: null })
      },
    }),
  },
  {
    name: 'a lost commit is a commit',
    wrong: 'a commit without an answer is taken for one that happened',
    mutate: (ports) => ({
      ...ports,
      jobs: {
        ...ports.jobs,
        accept: (job) =>
          ports.jobs.accept(job).catch((error) => {
            const now = new Date()
            if (error instanceof DependencyError)
              return { kind: 'accepted' as const, createdAt: now, deadlineAt: now }
            throw error
          }),
      },
    }),
  },
]
