import { insertDeadLetter } from '../memory/tables.ts'
import type { World } from '../world.ts'
import type { Mutant } from './mutant.ts'

export const publishingMutants: Mutant[] = [
  {
    name: 'mark before send',
    wrong: 'outbox rows are confirmed when they are claimed',
    mutate: (ports, { actor }) => ({
      ...ports,
      jobs: {
        ...ports.jobs,
        async claimOutbox(claim) {
          const rows = await ports.jobs.claimOutbox(claim)
          const rowIds = rows.map(({ rowId }) => rowId)
          if (actor === 'relay' && rows.length > 0)
            await ports.jobs.confirmPublished({ token: claim.token, rowIds })
          return rows
        },
      },
    }),
  },
  {
    name: 'watermark on outbox ids',
    wrong: 'the relay remembers the highest id that it sent and looks only above it',
    mutate: (ports, _, world) => ({
      ...ports,
      jobs: {
        ...ports.jobs,
        async claimOutbox(claim) {
          const rows = await ports.jobs.claimOutbox(claim)
          const above = rows.filter(({ rowId }) => Number(rowId) > (WATERMARKS.get(world) ?? 0))
          WATERMARKS.set(
            world,
            Math.max(WATERMARKS.get(world) ?? 0, ...above.map(({ rowId }) => Number(rowId))),
          )
          return above
        },
      },
    }),
  },
  {
    name: 'whole batch confirmed',
    wrong: 'a batch that was answered counts as sent, its failed entries included',
    mutate: (ports) => ({
      ...ports,
      queues: {
        ...ports.queues,
        jobs: {
          ...ports.queues.jobs,
          send: async (messages, signal) =>
            (await ports.queues.jobs.send(messages, signal)).map((outcome) =>
              outcome.ok ? outcome : { ok: true, messageId: 'none' },
            ),
        },
      },
    }),
  },
  {
    name: 'parked row leaves its job QUEUED',
    wrong: 'a publication that is refused for good is recorded, and the job waits on',
    mutateTables: (jobs, tables) => ({
      ...jobs,
      async refusePublication({ token, rowId, body, reason }) {
        const row = [...tables.outbox.values()].find(({ outboxId }) => String(outboxId) === rowId)
        if (row?.claimToken !== token) return
        const { jobId } = row
        tables.outbox.delete(jobId)
        const generation = tables.jobs.get(jobId)!.generation
        insertDeadLetter(tables, {
          ...{ messageId: null, jobId, generation, body, reason },
          ...{ receiveCount: 0, verdict: 'failed' },
        })
      },
    }),
  },
  {
    name: 'failed publication forgotten',
    wrong: 'rows that the broker did not take are removed instead of given back',
    mutateTables: (jobs, tables) => ({
      ...jobs,
      async returnToOutbox({ rowIds }) {
        for (const [jobId, row] of tables.outbox) {
          if (rowIds.includes(String(row.outboxId))) tables.outbox.delete(jobId)
        }
      },
    }),
  },
]

const WATERMARKS = new WeakMap<World, number>()
