import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { DependencyError } from '../../core/errors.ts'
import { cancelled } from '../../core/job-ends.ts'
import { newJob } from '../../test/conformance/jobs.ts'
import { createMemoryJobs } from '../../test/simulation/memory/memory-jobs.ts'
import { createTables } from '../../test/simulation/memory/tables.ts'
import { createScheduler } from '../../test/simulation/scheduler.ts'
import { seededRandom } from '../../test/simulation/seeded-random.ts'
import { createVirtualClock } from '../../test/simulation/virtual-clock.ts'
import { createJobWatch } from './job-watch.ts'
import { makePng } from './testing/png.ts'
import { type ApiUnderTest, jsonOf, startApi } from './testing/start-api.ts'

/** A watch over tables in memory, in virtual time, whose looks are counted. */
function createBench() {
  const scheduler = createScheduler(seededRandom('watch'), Date.UTC(2026, 0, 1))
  const clock = createVirtualClock(scheduler)
  const tables = createTables(scheduler.now)
  const jobs = createMemoryJobs(tables)
  const counts = { looks: 0, asked: 0, failing: false }
  const log: string[] = []
  const watch = createJobWatch({
    clock,
    log: pino({}, { write: (line: string) => void log.push(JSON.parse(line).msg) }),
    jobs: {
      async endedAmong(jobIds) {
        counts.looks++
        counts.asked += jobIds.length
        if (counts.failing) throw new DependencyError('database', 'no answer')
        return jobs.endedAmong(jobIds)
      },
      async transitionsAfter(followed) {
        counts.looks++
        return jobs.transitionsAfter(followed)
      },
    },
  })
  async function pass(ms: number): Promise<void> {
    let passed = false
    scheduler.schedule(ms, () => {
      passed = true
    })
    await scheduler.run(scheduler.now() + ms, () => passed)
  }
  return {
    ...{ watch, jobs, counts, log, pass, now: scheduler.now },
    accept: async (jobId: string) => void (await jobs.accept(newJob(jobId))),
    cancel: (jobId: string) => jobs.end({ jobId, by: { kind: 'owner' }, ...cancelled() }),
  }
}

const never = new AbortController().signal

describe('a watch over jobs', () => {
  it('serves 500 who wait with one look a second', async () => {
    const { watch, counts, accept, cancel, pass } = createBench()
    const ids = Array.from({ length: 500 }, (_, i) => `img_${i}`)
    for (const jobId of ids) await accept(jobId)
    const waits = Promise.all(ids.map((jobId) => watch.untilEnded(jobId, 60_000, never)))
    await pass(10_500)
    expect(counts.looks).toBe(10)
    for (const jobId of ids) await cancel(jobId)
    await pass(1_000)
    expect(counts.looks).toBe(11)
    const jobs = await waits
    expect(jobs.map((job) => [job?.jobId, job?.status])).toEqual(ids.map((jobId) => [jobId, 'FAILED']))
    await pass(10_000)
    expect(counts.looks).toBe(11)
  })

  it('looks at once for the jobs that a wake-up names, at them alone, and not at those that nobody waits for', async () => {
    const { watch, counts, accept, cancel, pass, now } = createBench()
    for (const jobId of ['img_a', 'img_b', 'img_c']) await accept(jobId)
    const [a, b] = ['img_a', 'img_b'].map((jobId) => watch.untilEnded(jobId, 60_000, never))
    await pass(1_100)
    expect(counts).toMatchObject({ looks: 1, asked: 2 })
    watch.wake(['img_c'])
    await pass(100)
    expect(counts.looks).toBe(1)
    await cancel('img_a')
    const askedAt = now()
    watch.wake(['img_a'])
    let answered = 0
    void a!.then(() => {
      answered = now()
    })
    await pass(200)
    expect(answered - askedAt).toBeLessThan(100)
    expect(counts).toMatchObject({ looks: 2, asked: 3 })
    await cancel('img_b')
    await pass(1_000)
    expect((await b)?.jobId).toBe('img_b')
  })

  it('makes few looks of many wake-ups', async () => {
    const { watch, counts, accept, pass } = createBench()
    await accept('img_a')
    void watch.untilEnded('img_a', 60_000, never)
    for (let i = 0; i < 1_000; i++) {
      watch.wake(['img_a'])
      await pass(1)
    }
    expect(counts.looks).toBeLessThanOrEqual(22)
  })

  it('answers null when the time is up, and forgets who is gone', async () => {
    const { watch, counts, accept, pass } = createBench()
    await accept('img_a')
    const gone = new AbortController()
    const waits = [watch.untilEnded('img_a', 3_500, never), watch.untilEnded('img_a', 60_000, gone.signal)]
    gone.abort()
    expect(await waits[1]).toBeNull()
    await pass(4_000)
    expect(await waits[0]).toBeNull()
    const looks = counts.looks
    await pass(60_000)
    expect(counts.looks).toBe(looks)
  })

  it('ends all waits and streams when the process is about to end, those that come later included', async () => {
    const { watch, accept } = createBench()
    await accept('img_a')
    const wait = watch.untilEnded('img_a', 60_000, never)
    let closed = 0
    const follower = { jobId: 'img_a', afterId: '0', tell: () => {}, close: () => void closed++ }
    watch.follow(follower)
    watch.close()
    expect(await wait).toBeNull()
    expect(await watch.untilEnded('img_a', 60_000, never)).toBeNull()
    watch.follow(follower)
    expect(closed).toBe(2)
  })

  it('goes on after an outage, of which it tells twice', async () => {
    const { watch, counts, log, accept, cancel, pass } = createBench()
    await accept('img_a')
    const wait = watch.untilEnded('img_a', 60_000, never)
    counts.failing = true
    await pass(5_000)
    counts.failing = false
    await cancel('img_a')
    await pass(1_500)
    expect((await wait)?.status).toBe('FAILED')
    expect(log).toEqual(['the look at watched jobs failed', 'the look at watched jobs is answered again'])
  })

  it('tells each follower every transition once, in order, whatever it knew before', async () => {
    const { watch, jobs, accept, cancel, pass } = createBench()
    await accept('img_a')
    const [first] = await jobs.transitionsAfter([{ jobId: 'img_a', afterId: '0' }])
    const told: Record<string, string[]> = { new: [], old: [] }
    for (const [who, afterId] of [
      ['new', '0'],
      ['old', first!.eventId],
    ] as const) {
      watch.follow({
        jobId: 'img_a',
        afterId,
        tell: (transitions) => told[who]!.push(...transitions.map(({ event }) => event)),
        close: () => {},
      })
    }
    await pass(1_500)
    await jobs.claim({ jobId: 'img_a', owner: 'worker', leaseMs: 30_000, budget: 5 })
    await pass(1_500)
    await cancel('img_a')
    await pass(3_000)
    expect(told).toEqual({ new: ['accepted', 'claimed', 'failed'], old: ['claimed', 'failed'] })
  })
})

describe('requests that wait', () => {
  let api: ApiUnderTest
  afterEach(() => api.stop())

  it('are answered with the job as it stands when the process drains', async () => {
    api = await startApi()
    const { job_id } = await jsonOf(await api.post(makePng()))
    const waiting = api.get(`/v1/jobs/${job_id}`, { headers: { prefer: 'wait=60' } })
    const events = await api.get(`/v1/jobs/${job_id}/events`)
    api.watch.close()
    const response = await waiting
    expect(response.headers.get('preference-applied')).toBe('wait=60')
    expect(await jsonOf(response)).toMatchObject({ status: 'QUEUED', done: false })
    expect(await events.text()).toContain('"event":"accepted"')
  })

  it('do not follow one job more than a hundred times for one tenant', async () => {
    api = await startApi()
    const { job_id } = await jsonOf(await api.post(makePng()))
    const open = await Promise.all(Array.from({ length: 100 }, () => api.get(`/v1/jobs/${job_id}/events`)))
    expect(open.every(({ status }) => status === 200)).toBe(true)
    const refused = await api.get(`/v1/jobs/${job_id}/events`)
    expect(refused.status).toBe(429)
    expect(await jsonOf(refused)).toMatchObject({ code: 'too_many_streams', retryable: true })
    api.watch.close()
    await Promise.all(open.map((response) => response.text()))
    // What was open counts no more.
    expect((await api.get(`/v1/jobs/${job_id}/events`)).status).toBe(200)
  })
})
