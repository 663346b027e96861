import { isTerminal, type Job } from '../../core/job.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Reading } from '../../core/ports/jobs.ts'
import type { Transition } from '../../core/transition.ts'
import type { Log } from '../../infra/log.ts'

/** How often all watched jobs are looked at. */
const LOOK_MS = 1_000
/** The least time between two looks, however many wake-ups come. */
const GAP_MS = 50
/** Requests that may wait in one process. */
const MAX_WAITS = 10_000

export interface Follower {
  jobId: string
  /** The newest transition that it knows. */
  afterId: string
  /** Given what came after that, oldest first. */
  tell(transitions: Transition[]): void
  /** Told that nothing more will come: the process is about to end. */
  close(): void
}

/**
 * Watches jobs for all requests of this process that wait for one, with one look a second for all of them, and one at
 * once for those that a wake-up names. A wake-up may be lost, the look may not.
 */
export interface JobWatch {
  /** Whether one more request may wait. */
  hasRoom(): boolean
  /** The job as soon as it is terminal; null after `ms`, when `signal` aborts, and when the process is about to end. */
  untilEnded(jobId: string, ms: number, signal: AbortSignal): Promise<Job | null>
  /** Follows the job until the function that this returns is called. */
  follow(follower: Follower): () => void
  /** @param jobIds of the jobs that may have changed; null for any */
  wake(jobIds: string[] | null): void
  /** Ends all waits and streams at once, those still to come included. */
  close(): void
}

export interface WatchParts {
  jobs: Pick<Reading, 'endedAmong' | 'transitionsAfter'>
  clock: Clock
  log: Log
}

export function createJobWatch({ jobs, clock, log }: WatchParts): JobWatch {
  const waiters = new Map<string, Set<(job: Job | null) => void>>()
  const followers = new Map<string, Set<Follower>>()
  let waits = 0
  let closed = false
  let running = false
  let failing = false
  let pause = new AbortController()
  /** What a wake-up named since the last look. */
  let named = new Set<string>()
  let lookAtAllAt = 0
  let lookedAt = 0

  async function run(): Promise<void> {
    if (running) return
    running = true
    lookAtAllAt = clock.now() + LOOK_MS
    while (!closed && waiters.size + followers.size > 0) {
      pause = new AbortController()
      const dueAt = named.size > 0 ? Math.min(lookedAt + GAP_MS, lookAtAllAt) : lookAtAllAt
      const pauseMs = dueAt - clock.now()
      if (pauseMs > 0) {
        await clock.sleep(pauseMs, pause.signal).catch(() => {})
        continue
      }
      await lookNow()
    }
    running = false
  }

  async function lookNow(): Promise<void> {
    lookedAt = clock.now()
    const all = lookedAt >= lookAtAllAt
    const which = (watched: Map<string, unknown>) =>
      [...watched.keys()].filter((jobId) => all || named.has(jobId))
    const [waitedFor, followed] = [which(waiters), which(followers)]
    if (all) lookAtAllAt = lookedAt + LOOK_MS
    named = new Set()
    try {
      const [ended, transitions] = await Promise.all([
        waitedFor.length > 0 ? jobs.endedAmong(waitedFor) : [],
        followed.length > 0 ? jobs.transitionsAfter(followed.map(oldestKnown)) : [],
      ])
      for (const job of ended) for (const resolve of [...(waiters.get(job.jobId) ?? [])]) resolve(job)
      pass(transitions)
      if (failing) log.info('the look at watched jobs is answered again')
      failing = false
    } catch (err) {
      if (!failing) log.warn({ err }, 'the look at watched jobs failed')
      failing = true
    }
  }

  function oldestKnown(jobId: string): { jobId: string; afterId: string } {
    const known = [...(followers.get(jobId) ?? [])].map(({ afterId }) => afterId)
    const [oldest = '0'] = known.sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
    return { jobId, afterId: oldest }
  }

  function pass(transitions: Transition[]): void {
    for (const [jobId, ofJob] of Map.groupBy(transitions, (transition) => transition.jobId)) {
      for (const follower of [...(followers.get(jobId) ?? [])]) {
        const news = ofJob.filter(({ eventId }) => BigInt(eventId) > BigInt(follower.afterId))
        if (news.length === 0) continue
        follower.afterId = news.at(-1)!.eventId
        follower.tell(news)
      }
    }
  }

  return {
    hasRoom: () => waits < MAX_WAITS,
    untilEnded(jobId, ms, signal) {
      if (closed || signal.aborted || ms <= 0) return Promise.resolve(null)
      return new Promise((resolve) => {
        const over = new AbortController()
        const done = (job: Job | null) => {
          if (!remove(waiters, jobId, done)) return
          waits--
          over.abort()
          signal.removeEventListener('abort', gone)
          resolve(job)
        }
        const gone = () => done(null)
        add(waiters, jobId, done)
        waits++
        signal.addEventListener('abort', gone, { once: true })
        clock.sleep(ms, over.signal).then(gone, () => {})
        void run()
      })
    },
    follow(follower) {
      if (closed) {
        follower.close()
        return () => {}
      }
      add(followers, follower.jobId, follower)
      void run()
      return () => void remove(followers, follower.jobId, follower)
    },
    wake(jobIds) {
      if (jobIds === null) {
        lookAtAllAt = Math.min(lookAtAllAt, lookedAt + GAP_MS)
      } else {
        const watched = jobIds.filter((jobId) => waiters.has(jobId) || followers.has(jobId))
        if (watched.length === 0) return
        for (const jobId of watched) named.add(jobId)
      }
      pause.abort()
    },
    close() {
      closed = true
      for (const waiting of waiters.values()) for (const resolve of [...waiting]) resolve(null)
      for (const following of followers.values()) for (const follower of [...following]) follower.close()
      pause.abort()
    },
  }
}

/** The job, waited for where the request prefers that and it is not done; `find` looks at it anew where the wait ends without it. */
export async function waitedFor(
  watch: JobWatch,
  job: Job,
  waitSeconds: number | null,
  gone: AbortSignal,
  find: () => Promise<Job>,
): Promise<Job> {
  if (waitSeconds === null || isTerminal(job.status)) return job
  return (await watch.untilEnded(job.jobId, waitSeconds * 1_000, gone)) ?? (gone.aborted ? job : find())
}

function add<T>(sets: Map<string, Set<T>>, key: string, value: T): void {
  const set = sets.get(key)
  if (set) set.add(value)
  else sets.set(key, new Set([value]))
}

function remove<T>(sets: Map<string, Set<T>>, key: string, value: T): boolean {
  const set = sets.get(key)
  const removed = set?.delete(value) ?? false
  if (set?.size === 0) sets.delete(key)
  return removed
}
