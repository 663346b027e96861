import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { failed } from '../../core/job-ends.ts'
import type { ClaimOutcome, JobEnd, Jobs } from '../../core/ports/jobs.ts'
import { observeAttempts } from './attempts.ts'

const NOW = 1_800_000_000_000
const clock = { now: () => NOW, sleep: async () => {} }
const held = { jobId: 'img_a', fence: 1 }

function observed(answers: Partial<Jobs>) {
  const registry = new Registry()
  const jobs = observeAttempts(registry, answers as Jobs, clock)
  const value = async (name: string, labels: Record<string, string>) => {
    const { values } = (await registry.getMetricsAsJSON()).find((metric) => name.startsWith(metric.name))!
    const sample = (values as { metricName?: string; labels: object; value: number }[]).find(
      (each) => (each.metricName ?? name) === name && JSON.stringify(each.labels) === JSON.stringify(labels),
    )
    return sample?.value
  }
  return { jobs, value }
}

function claimed({ attempt = 1, generation = 1, waitedMs = 4_000 } = {}): Partial<Jobs> {
  const job = { createdAt: new Date(NOW - waitedMs), generation }
  const outcome = { kind: 'claimed', fence: 1, attempt, job } as ClaimOutcome
  return { claim: async () => outcome, end: async () => true }
}

const claim = { jobId: 'img_a', owner: 'me', leaseMs: 1, budget: 5 }
const done = (formats: string[]): JobEnd => ({
  ...{ jobId: 'img_a', by: { kind: 'holder', fence: 1 } },
  end: {
    ...{ status: 'SUCCEEDED', warnings: [], result: {} },
    outputs: formats.map((format) => ({ format })),
  } as unknown as JobEnd['end'],
})

test('a job counts once for each format among its outputs, however many outputs share one', async () => {
  const { jobs, value } = observed(claimed())
  await jobs.claim(claim)
  await jobs.end(done(['webp', 'jpeg', 'webp']))
  for (const format of ['webp', 'jpeg']) {
    expect(await value('img42_job_wait_seconds_count', { format })).toBe(1)
    expect(await value('img42_job_wait_seconds_sum', { format })).toBe(4)
    expect(await value('img42_job_run_seconds_count', { format })).toBe(1)
  }
  expect(await value('img42_attempts_total', { outcome: 'succeeded', code: 'none' })).toBe(1)
})

test('a job whose picture was withheld, or that failed, counts as of no format', async () => {
  const { jobs, value } = observed(claimed())
  await jobs.claim(claim)
  await jobs.end(done([]))
  await jobs.claim(claim)
  await jobs.end({
    ...{ jobId: 'img_a', by: { kind: 'holder', fence: 1 } },
    ...failed({ code: 'corrupt', message: '' }),
  })
  expect(await value('img42_job_run_seconds_count', { format: 'none' })).toBe(2)
  expect(await value('img42_attempts_total', { outcome: 'failed', code: 'corrupt' })).toBe(1)
})

test('a wait is never negative, whatever the clocks say of each other', async () => {
  const { jobs, value } = observed(claimed({ waitedMs: -4_000 }))
  await jobs.claim(claim)
  await jobs.end(done(['jpeg']))
  expect(await value('img42_job_wait_seconds_sum', { format: 'jpeg' })).toBe(0)
  expect(await value('img42_job_end_to_end_seconds_sum', { format: 'jpeg' })).toBe(0)
})

test('a later attempt tells no wait, and a job that an operator retried neither wait nor end-to-end', async () => {
  const second = observed(claimed({ attempt: 2 }))
  await second.jobs.claim(claim)
  await second.jobs.end(done(['jpeg']))
  expect(await second.value('img42_job_wait_seconds_count', { format: 'jpeg' })).toBeUndefined()
  expect(await second.value('img42_job_end_to_end_seconds_count', { format: 'jpeg' })).toBe(1)

  const retried = observed(claimed({ generation: 2 }))
  await retried.jobs.claim(claim)
  await retried.jobs.end(done(['jpeg']))
  expect(await retried.value('img42_job_run_seconds_count', { format: 'jpeg' })).toBe(1)
  expect(await retried.value('img42_job_end_to_end_seconds_count', { format: 'jpeg' })).toBeUndefined()
})

test('each answer that refuses an old fence counts as a lost one, and as no attempt', async () => {
  const no = async () => false
  const { jobs, value } = observed({ ...claimed(), heartbeat: no, end: no, putBack: no })
  await jobs.claim(claim)
  await jobs.heartbeat({ ...held, leaseMs: 1 })
  await jobs.end(done(['jpeg']))
  await jobs.putBack({ ...held, charged: true, delayMs: 0, error: { code: 'timeout', message: '' } })
  for (const call of ['heartbeat', 'end', 'put_back']) {
    expect(await value('img42_lost_fences_total', { call }), call).toBe(1)
  }
  expect(await value('img42_attempts_total', { outcome: 'succeeded', code: 'none' })).toBe(0)
  expect(await value('img42_job_run_seconds_count', { format: 'jpeg' })).toBeUndefined()
})

test('what is put back is a retry with its code, or given back with its reason', async () => {
  const { jobs, value } = observed({ putBack: async () => true })
  const error = { code: 'timeout', message: '' } as const
  const outage = { code: 'dependency_unavailable', message: '' } as const
  await jobs.putBack({ ...held, charged: true, delayMs: 0, error })
  await jobs.putBack({ ...held, charged: false, delayMs: 0, error: outage })
  await jobs.putBack({ ...held, charged: false, delayMs: 0, error: null })
  expect(await value('img42_attempts_total', { outcome: 'retried', code: 'timeout' })).toBe(1)
  const code = 'dependency_unavailable'
  expect(await value('img42_attempts_total', { outcome: 'given_back', code })).toBe(1)
  expect(await value('img42_attempts_total', { outcome: 'given_back', code: 'none' })).toBe(1)
})
