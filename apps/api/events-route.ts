import type { Request, RequestHandler } from 'express'
import { isTerminal } from '../../core/job.ts'
import { describeError } from '../../core/job-errors.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Reading } from '../../core/ports/jobs.ts'
import { STATUS_AFTER, type Transition } from '../../core/transition.ts'
import { clientGone } from './client-gone.ts'
import { createStreamCount } from './event-streams.ts'
import { findJob } from './find-job.ts'
import type { JobWatch } from './job-watch.ts'
import { ProblemError } from './problem.ts'
import { tenantOf } from './tenant.ts'

/** A comment this often: proxies close what stands still, and a client that is gone is noticed. */
const HEARTBEAT_MS = 15_000
/** When a client that lost its stream does well to open it again. */
const RETRY_MS = 2_000

export interface EventParts {
  jobs: Pick<Reading, 'find' | 'transitionsAfter'>
  watch: JobWatch
  clock: Clock
}

/**
 * `GET /v1/jobs/:id/events`: server-sent events, one for each change of the job's status, in the order in which they
 * happened, from the first or from `Last-Event-ID` on. Ends after the one that ends the job. A client that has that one
 * already gets 204, which tells an EventSource to stop.
 */
export function eventsRoute({ jobs, watch, clock }: EventParts): RequestHandler<{ id: string }> {
  const streams = createStreamCount()

  return async (request, response) => {
    const { id } = request.params
    response.locals.jobId = id
    const tenant = tenantOf(request as Request)
    const lastId = readLastEventId(request.headers['last-event-id'])
    const gone = clientGone(response)
    await findJob(jobs, tenant, id)
    const stream = changesOf(await jobs.transitionsAfter([{ jobId: id, afterId: '0' }]))
    const unseen = stream.changes.filter(({ eventId }) => BigInt(eventId) > lastId)
    response.set('Cache-Control', 'no-store')
    if (unseen.length === 0 && stream.ended()) {
      response.status(204).end()
      return
    }
    if (gone.aborted) return
    if (request.method === 'HEAD') {
      response.set('Content-Type', 'text/event-stream').end()
      return
    }

    const leave = streams.enter(tenant)
    const over = new AbortController()
    const end = () => {
      over.abort()
      leave()
      stopFollowing()
      response.end()
    }
    let stopFollowing = () => {}
    // X-Accel-Buffering: nginx would keep events until it has a page of them.
    response.status(200).set({ 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' })
    response.write(`retry: ${RETRY_MS}\n\n${unseen.map(eventText).join('')}`)
    if (stream.ended()) return end()
    stopFollowing = watch.follow({
      jobId: id,
      afterId: stream.lastId(),
      tell(transitions) {
        response.write(stream.more(transitions).map(eventText).join(''))
        if (stream.ended()) end()
      },
      close: end,
    })
    gone.addEventListener('abort', end, { once: true })
    while (!over.signal.aborted) {
      await clock.sleep(HEARTBEAT_MS, over.signal).then(
        () => response.write(': still here\n\n'),
        () => {},
      )
    }
  }
}

/** @throws {ProblemError} 422 for what no event's id looks like */
function readLastEventId(value: string | string[] | undefined): bigint {
  if (value === undefined || value === '') return 0n
  if (typeof value === 'string' && /^\d{1,18}$/.test(value)) return BigInt(value)
  throw new ProblemError({
    status: 422,
    code: 'invalid_parameter',
    detail: 'the Last-Event-ID is the id of no event: a whole number of at most 18 digits',
  })
}

/**
 * The changes among a job's transitions, from its first on. A transition that leaves status and fence as they were is
 * none: a new message for a job that waits.
 */
function changesOf(transitions: Transition[]) {
  let before: Transition | undefined
  const isChange = (transition: Transition) => {
    const same =
      before?.fence === transition.fence && STATUS_AFTER[before.event] === STATUS_AFTER[transition.event]
    before = transition
    return !same
  }
  return {
    changes: transitions.filter(isChange),
    more: (later: Transition[]) => later.filter(isChange),
    lastId: () => before?.eventId ?? '0',
    // Of the newest one: an operator's retry begins a job anew that had ended.
    ended: () => before !== undefined && isTerminal(STATUS_AFTER[before.event]),
  }
}

function eventText({ eventId, jobId, event, at, attempts, error }: Transition): string {
  const status = STATUS_AFTER[event]
  const data = {
    ...{ job_id: jobId, event, status, done: isTerminal(status), at: at.toISOString(), attempts },
    error: error ? describeError(error) : undefined,
  }
  return `id: ${eventId}\ndata: ${JSON.stringify(data)}\n\n`
}
