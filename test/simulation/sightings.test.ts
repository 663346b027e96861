import { describe, expect, it } from 'vitest'
import { SIGHTINGS, type Sighting } from './sightings.ts'
import { simulate } from './simulate.ts'
import { scenarioOfSeed } from './swarm.ts'

/**
 * The first seed that meets each race. What a seed stands for changes with `swarm.ts` and with the service; then another
 * one has to be written down here. That 20,000 seeds meet each of them, `npm run sim -- --seeds 20000` says.
 */
const SEEN_IN: Record<Sighting, string> = {
  zombie_commit: '28',
  delivered_after_delete: '3',
  finished_redelivery: '1',
  dead_letter_held: '12',
  false_quarantine: '3',
  dead_letter_republished: '12',
  superseded: '51',
  heartbeat_lost: '5',
  raced_completion: '28',
  rescued: '28',
  republished: '178',
  expired: '761',
  commit_settled: '3',
  reservation_lost: '26',
  cancelled: '224',
  cancelled_late: '3',
  exhausted: '4',
  late_outbox_id: '3',
}

describe('the seeds', () => {
  it.each(Object.entries(SEEN_IN) as [Sighting, string][])('meet %s', async (sighting, seed) => {
    const { sightings } = await simulate(scenarioOfSeed(seed))
    expect(sightings[sighting] ?? 0, SIGHTINGS[sighting]).toBeGreaterThan(0)
  })
})
