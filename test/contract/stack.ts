import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createKey } from '../../db/api-keys.ts'
import { openDatabase } from '../../db/connect.ts'
import { systemRandom } from '../../infra/system-random.ts'
import { startTestAws } from '../aws.ts'
import { startApp } from '../end-to-end/app-process.ts'
import { SCALED } from '../end-to-end/stack.ts'

/** A service to be tested from outside, and the keys of two tenants. */
export interface ContractService {
  url: string
  key: string
  otherKey: string
}

/** So high that no test meets them: those that want to meet limits start a service of their own. */
const LIMITS = { ratePerSecond: 100_000, burst: 100_000, maxInFlight: 100_000 }

/**
 * The service as three processes on a migrated database: the queue in the database and the objects in files, or both
 * where `AWS_ENDPOINT_URL` says.
 */
export async function startContractStack(
  databaseUrl: string,
): Promise<ContractService & { stop(): Promise<void> }> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'img42-contract-'))
  const [key, otherKey] = await makeKeys(databaseUrl)
  const aws = process.env.AWS_ENDPOINT_URL ? await startTestAws() : null
  const env = { ...SCALED, AUTH: 'keys', DATABASE_URL: databaseUrl, DATA_DIR: dataDir }
  if (aws) {
    const visibilitySeconds = Number(SCALED.VISIBILITY_SECONDS)
    const { jobsUrl } = await aws.createQueues({ visibilitySeconds, maxReceiveCount: 50 })
    Object.assign(env, { QUEUE_URL: jobsUrl, S3_BUCKET: await aws.createBucket() })
  }
  const apps = await Promise.all(
    (['api', 'worker', 'reconciler'] as const).map((name) => startApp(name, env)),
  )
  return {
    ...{ url: `http://127.0.0.1:${apps[0]!.port}`, key, otherKey },
    async stop() {
      await Promise.all(apps.map((app) => app.kill()))
      await aws?.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

async function makeKeys(databaseUrl: string): Promise<[string, string]> {
  const db = openDatabase(databaseUrl, { max: 1, callMs: 10_000, application: 'img42-contract' })
  try {
    const make = (tenant: string) => createKey(db, { tenant, name: 'contract', limits: LIMITS }, systemRandom)
    return [(await make('contract-a')).key, (await make('contract-b')).key]
  } finally {
    await db.destroy()
  }
}
