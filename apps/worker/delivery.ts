import { backoffMs } from '../../core/backoff.ts'
import { DependencyError } from '../../core/errors.ts'
import { decodeJobMessage } from '../../core/job-message.ts'
import type { Queue, ReceivedMessage } from '../../core/ports/queue.ts'
import { inAttempt } from '../../infra/tracing/traced-jobs.ts'
import { type AttemptParts, runAttempt } from './attempt.ts'
import { type HeldMessage, holdMessage } from './held-message.ts'
import { untilAnswered } from './until-answered.ts'

export interface DeliveryParts extends AttemptParts {
  queue: Queue
  /** This process, as the row's lease names it. */
  owner: string
}

/** The two ends of a process that stops: it begins nothing more at once, and works on for a while. */
export interface Stop {
  beginning: AbortSignal
  working: AbortSignal
}

/**
 * What becomes of one delivery. A delivery proves nothing: the job may be finished, held by somebody else, not due, or
 * unknown; only a claim that the database grants begins an attempt.
 *
 * @returns `deliver`, which never rejects: what goes wrong with one message is that message's affair
 */
export function createDelivery(parts: DeliveryParts) {
  const { jobs, clock, random, timing, budget, gate, log, owner } = parts
  /** The jobs that this process holds a message of. */
  const running = new Map<string, { generation: number; message: HeldMessage }>()

  return { deliver }

  async function deliver(received: ReceivedMessage, stop: Stop): Promise<void> {
    const message = holdMessage(parts, received)
    try {
      await handle(received, message, stop)
    } catch (error) {
      log.warn({ message_id: received.messageId, err: error }, 'delivery not handled')
      if (error instanceof DependencyError) gate.shut(error.dependency)
      const backoff = { baseMs: timing.backoffBaseMs, capMs: timing.backoffCapMs }
      await message.hide(Math.ceil(backoffMs(random, received.receiveCount, backoff) / 1_000))
    }
  }

  async function handle(received: ReceivedMessage, message: HeldMessage, stop: Stop): Promise<void> {
    const decoded = decodeJobMessage(received)
    if (!decoded.ok) {
      const { messageId, body, receiveCount } = received
      log.error({ message_id: messageId, reason: decoded.reason }, 'message is unreadable')
      await jobs.parkMessage({ messageId, body, reason: decoded.reason, receiveCount })
      return message.delete()
    }
    const { jobId, generation } = decoded.message
    log.info({ job_id: jobId, receive_count: received.receiveCount }, 'received')
    const held = running.get(jobId)
    if (held?.generation === generation) return held.message.adopt(received)
    // Sent before or after an operator's retry: the attempt that runs here would delete it in place of its own.
    if (held) return message.hide(Math.ceil(timing.heartbeatMs / 1_000))

    running.set(jobId, { generation, message })
    try {
      await begin(jobId, message, stop)
    } finally {
      running.delete(jobId)
    }
  }

  async function begin(jobId: string, message: HeldMessage, stop: Stop): Promise<void> {
    let claimedAt: number | null = null
    const claim = await untilAnswered(parts, { job_id: jobId }, stop.beginning, async () => {
      if (claimedAt !== null && stop.beginning.aborted) return null
      claimedAt = clock.now()
      return jobs.claim({ jobId, owner, leaseMs: timing.leaseMs, budget })
    })
    if (!claim || claimedAt === null) return message.hide(0)
    switch (claim.kind) {
      case 'claimed':
        log.info({ job_id: jobId, attempt: claim.attempt, receive_count: message.receiveCount }, 'claimed')
        return inAttempt(claim, () => runAttempt(parts, claim, message, claimedAt!, stop.working))
      case 'not_yet':
        return message.hide(Math.ceil(claim.retryInMs / 1_000))
      case 'finished':
      case 'unknown':
        log.info(
          { job_id: jobId, receive_count: message.receiveCount, found: claim.kind },
          'delivery of no use',
        )
        return message.delete()
    }
  }
}
