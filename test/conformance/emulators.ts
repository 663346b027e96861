import { LOCALSTACK_VERSION } from '../../infra/localstack/install.ts'
import type { Deviation as StoreDeviation } from './object-store-bench.ts'
import type { Deviation as QueueDeviation } from './queue-bench.ts'

interface Deviations {
  queue: readonly QueueDeviation[]
  objectStore: readonly StoreDeviation[]
}

/**
 * What is known of the emulators to be otherwise than SQS and S3 document it: docs/emulators.md says how. The tests of
 * those rules have to fail there, so that this list stays true.
 */
const KNOWN: Record<'fauxqs' | 'localstack', Deviations> = {
  fauxqs: {
    queue: ['no ceiling', 'no late delete', 'no emoji'],
    objectStore: ['sorts by locale'],
  },
  localstack: {
    queue: ['no ceiling', 'no limit', 'old handles act', 'visible is hidden'],
    objectStore: [],
  },
}

/** Of what the tests run on: the emulator in this process, or what `AWS_ENDPOINT_URL` names. */
export async function deviations(): Promise<Deviations> {
  const endpointUrl = process.env.AWS_ENDPOINT_URL
  if (!endpointUrl) return KNOWN.fauxqs
  const response = await fetch(`${endpointUrl}/_localstack/health`, { signal: AbortSignal.timeout(10_000) })
  // Others answer at this address as well, in LocalStack's place.
  const { version } = response.ok ? ((await response.json()) as { version: string }) : { version: null }
  return version === LOCALSTACK_VERSION ? KNOWN.localstack : { queue: [], objectStore: [] }
}
