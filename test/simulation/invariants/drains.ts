import type { ReceivedMessage } from '../../../core/ports/queue.ts'
import type { Step } from '../faults.ts'
import type { MemoryQueue } from '../memory/memory-queue.ts'
import type { Tables } from '../memory/tables.ts'
import type { SimulatedProcess } from '../simulated-process.ts'
import { jobOf } from './messages.ts'
import type { Report } from './violation.ts'

/** Invariant 14: a process that was told to stop begins nothing, and keeps nothing that others could begin. */
export function watchDrains(report: Report) {
  const handles = new WeakMap<SimulatedProcess, Set<string>>()
  return {
    called(process: SimulatedProcess, step: Step): void {
      if (process.stopping() && step === 'jobs.claim')
        report('drain', `${process.name} claims while it stops`)
    },
    received(process: SimulatedProcess, messages: readonly ReceivedMessage[]): void {
      const held = handles.get(process) ?? new Set()
      handles.set(process, held)
      for (const { receiptHandle } of messages) held.add(receiptHandle)
    },
    /** To be called when it has ended by itself, in a world without faults. */
    ended(process: SimulatedProcess, queue: MemoryQueue, tables: Tables): void {
      for (const message of queue.messages()) {
        if (!handles.get(process)?.has(message.receiptHandle ?? '')) continue
        const job = tables.jobs.get(jobOf(message) ?? '')
        const due = job?.status === 'QUEUED' && job.runAt <= tables.now()
        if (due && message.visibleAt > tables.now()) {
          report('drain', `${process.name} ended and keeps ${message.messageId} of ${job.jobId}`)
        }
      }
    },
  }
}
