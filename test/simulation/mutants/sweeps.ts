import { isTerminal } from '../../../core/job.ts'
import { insertDeadLetter, insertOutboxRow } from '../memory/tables.ts'
import type { Mutant } from './mutant.ts'

export const sweepMutants: Mutant[] = [
  {
    name: 'rescue that does not check the lease again',
    wrong: 'a sweep reads whose lease ran out, and acts on them later as they were read',
    mutateTables: (jobs, tables) => {
      const act = async (jobIds: readonly string[]) => {
        for (const row of jobIds.map((jobId) => tables.jobs.get(jobId)!)) {
          if (isTerminal(row.status)) continue
          Object.assign(row, { status: 'QUEUED', fence: row.fence + 1, leaseOwner: null, leaseUntil: null })
          insertOutboxRow(tables, row.jobId)
        }
        return [...jobIds]
      }
      return Object.assign({ ...jobs }, { rescueThese: act })
    },
    mutate: (ports, { clock }, { tables }) => ({
      ...ports,
      jobs: {
        ...ports.jobs,
        async rescue({ graceMs }) {
          const jobIds = [...tables.jobs.values()]
            .filter(({ status, leaseUntil }) => status === 'RUNNING' && leaseUntil! < tables.now() - graceMs)
            .map(({ jobId }) => jobId)
          if (jobIds.length === 0) return []
          await clock.sleep(20_000)
          const { rescueThese } = ports.jobs as unknown as { rescueThese(ids: string[]): Promise<string[]> }
          return rescueThese(jobIds)
        },
      },
    }),
  },
  {
    name: 'dead-letter sweep that ignores terminal state',
    wrong: 'a dead letter fails its job, finished or not',
    mutateTables: (jobs, tables) => ({
      ...jobs,
      async takeDeadLetter(letter) {
        const row = letter.jobId === null ? undefined : tables.jobs.get(letter.jobId)
        if (row?.status !== 'SUCCEEDED') return jobs.takeDeadLetter(letter)
        Object.assign(row, { status: 'FAILED', outputs: null, error: { code: 'dead_lettered', message: '' } })
        insertDeadLetter(tables, { ...letter, verdict: 'failed' })
        return { kind: 'failed' }
      },
    }),
  },
  {
    name: 'dead letter of an old generation fails the new one',
    wrong: 'a dead letter speaks for whatever generation its job has by now',
    mutateTables: (jobs, tables) => ({
      ...jobs,
      async takeDeadLetter(letter) {
        const row = letter.jobId === null ? undefined : tables.jobs.get(letter.jobId)
        return jobs.takeDeadLetter({ ...letter, generation: row?.generation ?? letter.generation })
      },
    }),
  },
  {
    name: 'redrive that leaves the relay its claim',
    wrong: 'a late confirmation of the message that died removes the row of its successor',
    mutateTables: (jobs, tables) => ({
      ...jobs,
      async takeDeadLetter(letter) {
        const row = tables.outbox.get(letter.jobId ?? '')
        const { claimToken, claimedUntil } = row ?? {}
        const verdict = await jobs.takeDeadLetter(letter)
        if (row) Object.assign(row, { claimToken, claimedUntil })
        return verdict
      },
    }),
  },
  {
    name: 'dead letter deleted before its record',
    wrong: 'the dead-letter queue is emptied first and judged afterwards',
    mutate: (ports) => ({
      ...ports,
      queues: {
        ...ports.queues,
        deadLetters: {
          ...ports.queues.deadLetters,
          async receive(options, signal) {
            const letters = await ports.queues.deadLetters.receive(options, signal)
            const handles = letters.map(({ receiptHandle }) => receiptHandle)
            if (handles.length > 0) await ports.queues.deadLetters.delete(handles, signal)
            return letters
          },
        },
      },
    }),
  },
  {
    name: 'publishing again by age alone',
    wrong: 'a job that waits for long counts as lost, whatever the queue holds',
    mutateTables: (jobs) => ({
      ...jobs,
      republishLost: (sweep) => jobs.republishLost({ ...sweep, queueEmpty: true }),
    }),
  },
  {
    name: 'objects deleted before the tombstone',
    wrong: 'a finished job loses its objects while it is still answered for',
    mutateTables: (jobs, tables) => ({
      ...jobs,
      tombstonesWithObjects: async ({ max }) =>
        [...tables.jobs.values()]
          .filter(({ finishedAt, objectsDeletedAt }) => finishedAt !== null && objectsDeletedAt === null)
          .slice(0, max)
          .map(({ jobId }) => jobId),
    }),
  },
]
