import { isTerminal } from '../../core/job.ts'
import type { Step } from './faults.ts'
import { jobOf } from './invariants/messages.ts'
import type { Message } from './memory/memory-queue.ts'
import type { Tables } from './memory/tables.ts'
import type { Outcome } from './network.ts'
import type { SimulatedProcess } from './simulated-process.ts'

/** Races that a run of many seeds must have met, or it has shown nothing about them. */
export const SIGHTINGS = {
  zombie_commit: 'a zombie at its commit: an end with an old fence',
  delivered_after_delete: 'a delivery after its delete',
  finished_redelivery: 'a delivery of a finished job',
  dead_letter_held: 'a dead letter whose job a live worker holds',
  false_quarantine: 'a dead letter whose job had finished',
  dead_letter_republished: 'a dead letter answered with a new message',
  superseded: 'a dead letter of a generation that was retried since',
  heartbeat_lost: 'a heartbeat that finds its fence lost',
  raced_completion: 'a completion that comes after the reconciler took its job',
  rescued: 'a job rescued from a dead worker',
  republished: 'a lost job published again',
  expired: 'a job expired',
  commit_settled: 'an acceptance whose answer was lost, and which was settled',
  reservation_lost: 'an upload whose reservation went to another',
  cancelled: 'a cancel that ends a job which a worker holds',
  cancelled_late: 'a cancel that comes after the end',
  exhausted: 'a budget spent',
  late_outbox_id: 'an outbox row that appears with a lower id than one that is gone',
} as const

export type Sighting = keyof typeof SIGHTINGS

export interface Sightings {
  counts: Partial<Record<Sighting, number>>
  received(message: Message): void
  deleted(message: Message): void
  effect(process: SimulatedProcess, step: Step, args: readonly unknown[], outcome: Outcome<unknown>): void
}

export function watchSightings(tables: Tables): Sightings {
  const counts: Partial<Record<Sighting, number>> = {}
  const saw = (sighting: Sighting) => {
    counts[sighting] = (counts[sighting] ?? 0) + 1
  }
  const gone = new Set<string>()
  let highestConfirmed = 0

  function sawEnd({ jobId, by }: { jobId: string; by: { kind: string } }, answer: unknown): void {
    if (by.kind === 'owner') {
      const before = tables.jobEvents.filter((event) => event.jobId === jobId).at(-2)?.event
      if (answer === false) saw('cancelled_late')
      else if (before === 'claimed') saw('cancelled')
    }
    if (by.kind !== 'holder' || answer !== false) return
    const last = tables.jobEvents.findLast((event) => event.jobId === jobId)?.event
    if (last !== 'succeeded' && last !== 'failed') saw('zombie_commit')
    if (last === 'rescued' || last === 'redriven' || last === 'published') saw('raced_completion')
  }

  return {
    counts,
    received(message) {
      if (gone.has(message.messageId)) saw('delivered_after_delete')
      const job = tables.jobs.get(jobOf(message) ?? '')
      if (job && isTerminal(job.status)) saw('finished_redelivery')
    },
    deleted: (message) => void gone.add(message.messageId),
    effect(_process, step, args, outcome) {
      if (!outcome.ok) return
      const { answer } = outcome
      switch (step) {
        case 'jobs.end':
          return sawEnd(args[0] as Parameters<typeof sawEnd>[0], answer)
        case 'jobs.heartbeat':
          if (answer === false) saw('heartbeat_lost')
          return
        case 'jobs.takeDeadLetter': {
          const { kind } = answer as { kind: string }
          if (kind === 'hold') saw('dead_letter_held')
          if (kind === 'false_quarantine' || kind === 'superseded') saw(kind)
          if (kind === 'republished') saw('dead_letter_republished')
          return
        }
        case 'jobs.rescue':
          for (const _ of answer as string[]) saw('rescued')
          return
        case 'jobs.republishLost':
          for (const _ of answer as string[]) saw('republished')
          return
        case 'jobs.expire':
          for (const _ of answer as string[]) saw('expired')
          return
        case 'jobs.accept':
          if ((answer as { kind: string }).kind === 'reservation_lost') saw('reservation_lost')
          return
        case 'jobs.releaseReservation':
          saw('commit_settled')
          return
        case 'jobs.claimOutbox':
          for (const { rowId, tries } of answer as { rowId: string; tries: number }[]) {
            if (tries === 1 && Number(rowId) < highestConfirmed) saw('late_outbox_id')
          }
          return
        case 'jobs.confirmPublished':
          for (const rowId of (args[0] as { rowIds: string[] }).rowIds) {
            highestConfirmed = Math.max(highestConfirmed, Number(rowId))
          }
          return
        case 'jobs.claim':
          if ((answer as { kind: string }).kind === 'finished') {
            const job = tables.jobs.get((args[0] as { jobId: string }).jobId)
            if (job?.error?.code === 'attempts_exhausted') saw('exhausted')
          }
      }
    },
  }
}
