import { jobOf } from '../invariants/messages.ts'
import { claim } from '../memory/work.ts'
import type { SimulatedPorts } from '../simulated-ports.ts'
import type { Mutant } from './mutant.ts'

export const workMutants: Mutant[] = [
  {
    name: 'delete before complete',
    wrong: 'the message goes first, and the end is written after it',
    mutate(ports) {
      const handles = new Map<string, string>()
      const { jobs: queue } = ports.queues
      return withQueue(
        withJobs(ports, {
          async end(end) {
            const handle = handles.get(end.jobId)
            if (handle && end.by.kind === 'holder')
              await queue.delete([handle], new AbortController().signal).catch(() => {})
            return ports.jobs.end(end)
          },
        }),
        {
          async receive(options, signal) {
            const messages = await queue.receive(options, signal)
            for (const message of messages) handles.set(jobOf(message) ?? '', message.receiptHandle)
            return messages
          },
        },
      )
    },
  },
  {
    name: 'completion without fence',
    wrong: 'whoever ends a running job ends it, whatever fence it has',
    mutateTables: (jobs, tables) => ({
      ...jobs,
      async end(end) {
        const row = tables.jobs.get(end.jobId)
        return jobs.end(
          end.by.kind === 'holder' && row ? { ...end, by: { kind: 'holder', fence: row.fence } } : end,
        )
      },
    }),
  },
  {
    name: 'heartbeat missing',
    wrong: 'neither lease nor visibility is extended while the work goes on',
    mutate: (ports, _, { scenario }) =>
      withQueue(withJobs(ports, { heartbeat: async () => true }), {
        changeVisibility: async (changes, signal) =>
          changes[0]?.seconds === scenario.timing.visibilitySeconds
            ? [{ ok: true }]
            : ports.queues.jobs.changeVisibility(changes, signal),
      }),
  },
  {
    name: 'marker apart from the effect',
    wrong: 'the marker is written in a transaction of its own, after the end',
    mutateTables: (jobs, tables) => ({
      ...jobs,
      async end(end) {
        const ended = await jobs.end(end)
        const row = tables.jobs.get(end.jobId)
        if (ended && row) tables.processedOperations.delete(`${row.jobId}/${row.generation}`)
        return ended
      },
    }),
  },
  {
    name: 'callback owed by workers alone',
    wrong: 'who ends a job otherwise, a sweep or its owner, owes nobody a callback',
    mutateTables: (jobs, tables) => {
      const owingNothing = <Arguments extends unknown[], Answer>(
        method: (...args: Arguments) => Promise<Answer>,
      ) => {
        return async (...args: Arguments) => {
          const owed = new Map(tables.callbacks)
          const answer = await method(...args)
          for (const id of tables.callbacks.keys()) if (!owed.has(id)) tables.callbacks.delete(id)
          return answer
        }
      }
      return {
        ...jobs,
        rescue: owingNothing(jobs.rescue),
        expire: owingNothing(jobs.expire),
        bury: owingNothing(jobs.bury),
        takeDeadLetter: owingNothing(jobs.takeDeadLetter),
        refusePublication: owingNothing(jobs.refusePublication),
      }
    },
  },
  {
    name: 'lease on the worker’s own clock',
    wrong: 'a claim compares and computes leases with the time of the machine that asks',
    mutateTables: (jobs, tables, { skewMs }) => ({
      ...jobs,
      async claim(asked) {
        const skew = skewMs[asked.owner.split('#')[0]!] ?? 0
        return claim({ ...tables, now: () => tables.now() + skew }, asked)
      },
    }),
  },
  {
    name: 'attempt charged after decode',
    wrong: 'a claim charges nothing; the attempt is charged when it is put back',
    mutateTables: (jobs, tables) => ({
      ...jobs,
      async claim(asked) {
        const outcome = await jobs.claim(asked)
        if (outcome.kind === 'claimed') tables.jobs.get(asked.jobId)!.attempts--
        return outcome
      },
      async putBack(given) {
        const row = tables.jobs.get(given.jobId)
        const back = await jobs.putBack({ ...given, charged: true })
        if (back && row && given.charged) row.attempts++
        return back
      },
    }),
  },
  {
    name: 'release that reuses a fence',
    wrong: 'putting a job back takes its fence back as well',
    mutateTables: (jobs, tables) => ({
      ...jobs,
      async putBack(given) {
        const back = await jobs.putBack(given)
        if (back) tables.jobs.get(given.jobId)!.fence -= 2
        return back
      },
    }),
  },
  {
    name: 'drain that resets the budget',
    wrong: 'an attempt given back gives all attempts back',
    mutateTables: (jobs, tables) => ({
      ...jobs,
      async putBack(given) {
        const back = await jobs.putBack(given)
        if (back && !given.charged) tables.jobs.get(given.jobId)!.attempts = 0
        return back
      },
    }),
  },
  {
    name: 'early delivery that skips the backoff',
    wrong: 'a delivery begins the job though it is not due',
    mutateTables: (jobs, tables) => ({
      ...jobs,
      async claim(asked) {
        const row = tables.jobs.get(asked.jobId)
        if (row) row.runAt = Math.min(row.runAt, tables.now())
        return jobs.claim(asked)
      },
    }),
  },
  {
    name: 'claim of a live lease',
    wrong: 'a delivery is taken for the proof that the last holder is dead',
    mutateTables: (jobs, tables) => ({
      ...jobs,
      async claim(asked) {
        const row = tables.jobs.get(asked.jobId)
        if (row?.status === 'RUNNING') row.leaseUntil = tables.now() - 1
        return jobs.claim(asked)
      },
    }),
  },
  {
    name: 'outage that is charged',
    wrong: 'an attempt that a dependency failed counts as one of the budget',
    mutate: (ports) =>
      withJobs(ports, {
        putBack: (given) => ports.jobs.putBack({ ...given, charged: given.charged || given.error !== null }),
      }),
  },
  {
    name: 'drain that is charged',
    wrong: 'an attempt that a deploy cut short counts as one of the budget',
    mutate: (ports) =>
      withJobs(ports, {
        putBack: (given) => ports.jobs.putBack({ ...given, charged: given.charged || given.error === null }),
      }),
  },
  {
    name: 'crash that costs nothing',
    wrong: 'an attempt at fault is given back like one that a dependency failed',
    mutate: (ports) =>
      withJobs(ports, { putBack: (given) => ports.jobs.putBack({ ...given, charged: false }) }),
  },
  {
    name: 'delivery of a busy job deleted',
    wrong: 'a message whose job somebody else holds, or which is early, is thrown away',
    mutate: (ports) =>
      withJobs(ports, {
        async claim(asked) {
          const outcome = await ports.jobs.claim(asked)
          return outcome.kind === 'not_yet' ? { kind: 'finished' } : outcome
        },
      }),
  },
  {
    name: 'a lost end is an end',
    wrong: 'an end without an answer is taken for one that was written',
    mutate: (ports) => withJobs(ports, { end: (end) => ports.jobs.end(end).catch(() => true) }),
  },
  {
    name: 'outputs after the end',
    wrong: 'the outputs’ puts are not waited for',
    mutate: (ports, { actor }) => ({
      ...ports,
      objectStore: {
        ...ports.objectStore,
        async put(object, signal) {
          if (actor !== 'worker' || object.key === 'probe') return ports.objectStore.put(object, signal)
          ports.objectStore.put(object, new AbortController().signal).catch(() => {})
        },
      },
    }),
  },
]

function withJobs(ports: SimulatedPorts, jobs: Partial<SimulatedPorts['jobs']>): SimulatedPorts {
  return { ...ports, jobs: { ...ports.jobs, ...jobs } }
}

function withQueue(ports: SimulatedPorts, queue: Partial<SimulatedPorts['queues']['jobs']>): SimulatedPorts {
  return { ...ports, queues: { ...ports.queues, jobs: { ...ports.queues.jobs, ...queue } } }
}
