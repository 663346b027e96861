import type { Registry } from 'prom-client'
import type { Callbacks } from '../../core/ports/callbacks.ts'
import type { Jobs } from '../../core/ports/jobs.ts'
import { countFrom0, eachOf } from './registry.ts'

/** A reconciler's jobs, whose answers tell what its sweeps had to repair and how dead letters were judged. */
export function observeRepairs(registry: Registry, jobs: Jobs): Jobs {
  const repairs = countFrom0(
    ...([registry, 'img42_repairs_total', 'What sweeps repaired'] as const),
    ['kind'],
    eachOf('kind', ['republished', 'rescued', 'expired', 'dead_letter_republished']),
  )
  const verdicts = countFrom0(
    ...([
      registry,
      'img42_dead_letter_verdicts_total',
      'Messages of the dead-letter queue, as judged',
    ] as const),
    ['verdict'],
    eachOf('verdict', [
      ...['false_quarantine', 'superseded', 'republished', 'failed', 'no_such_job', 'hold', 'unreadable'],
    ]),
  )
  const repaired = (kind: string, jobIds: string[]) => {
    repairs.inc({ kind }, jobIds.length)
    return jobIds
  }
  return {
    ...jobs,
    republishLost: async (sweep) => repaired('republished', await jobs.republishLost(sweep)),
    rescue: async (sweep) => repaired('rescued', await jobs.rescue(sweep)),
    expire: async (sweep) => repaired('expired', await jobs.expire(sweep)),
    async takeDeadLetter(letter) {
      const verdict = await jobs.takeDeadLetter(letter)
      verdicts.inc({ verdict: verdict.kind })
      if (verdict.kind === 'republished') repairs.inc({ kind: 'dead_letter_republished' })
      return verdict
    },
    async parkMessage(letter) {
      await jobs.parkMessage(letter)
      verdicts.inc({ verdict: 'unreadable' })
    },
  }
}

/** A reconciler's callbacks, whose records tell how their sends went. */
export function observeCallbacks(registry: Registry, callbacks: Callbacks): Callbacks {
  const sends = countFrom0(
    ...([registry, 'img42_callbacks_total', 'Sends of callbacks'] as const),
    ['outcome'],
    eachOf('outcome', Object.values(OUTCOMES)),
  )
  return {
    ...callbacks,
    async record(send) {
      await callbacks.record(send)
      sends.inc({ outcome: OUTCOMES[send.verdict.state] })
    },
  }
}

const OUTCOMES = { DELIVERED: 'delivered', PENDING: 'retried', GIVEN_UP: 'given_up', DISABLED: 'disabled' }
