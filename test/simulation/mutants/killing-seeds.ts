import type { KillingSeeds } from '../mutation-gate.ts'

/**
 * The seed that gives each mutant away, and what it breaks there, as `npm run sim -- --mutants` finds them from seed 1 on.
 * What a seed stands for changes with `swarm.ts` and with the service: where the quick form fails after such a change, run
 * the long one and write down what it prints.
 */
export const KILLING_SEEDS: KillingSeeds = {
  'outbox outside the transaction': { seed: '5', invariant: 'accepted_is_durable' },
  'original deleted after an unknown commit': { seed: '5', invariant: 'accepted_is_durable' },
  'commit before the object is stored': { seed: '1', invariant: 'accepted_is_durable' },
  'acceptance without the token': { seed: '26', invariant: 'accepted_is_durable' },
  'a lost commit is a commit': { seed: '4', invariant: 'accepted_is_durable' },
  'mark before send': { seed: '1', invariant: 'outbox_confirmed' },
  'watermark on outbox ids': { seed: '1', invariant: 'becomes_terminal' },
  'whole batch confirmed': { seed: '4', invariant: 'outbox_confirmed' },
  'parked row leaves its job QUEUED': { seed: '68', invariant: 'accepted_is_durable' },
  'failed publication forgotten': { seed: '4', invariant: 'outbox_confirmed' },
  'delete before complete': { seed: '1', invariant: 'deleted_when_durable' },
  'completion without fence': { seed: '28', invariant: 'fence' },
  'heartbeat missing': { seed: '6', invariant: 'drain' },
  'marker apart from the effect': { seed: '1', invariant: 'marker' },
  'callback owed by workers alone': { seed: '12', invariant: 'callback' },
  'lease on the worker’s own clock': { seed: '5', invariant: 'lease' },
  'attempt charged after decode': { seed: '1', invariant: 'budget' },
  'release that reuses a fence': { seed: '4', invariant: 'fence' },
  'drain that resets the budget': { seed: '91', invariant: 'budget' },
  'early delivery that skips the backoff': { seed: '13', invariant: 'lease' },
  'claim of a live lease': { seed: '22', invariant: 'lease' },
  'outage that is charged': { seed: '24', invariant: 'outage' },
  'drain that is charged': { seed: '94', invariant: 'drain' },
  'crash that costs nothing': { seed: '22', invariant: 'budget' },
  'delivery of a busy job deleted': { seed: '13', invariant: 'deleted_when_durable' },
  'a lost end is an end': { seed: '50', invariant: 'deleted_when_durable' },
  'outputs after the end': { seed: '2', invariant: 'outputs_exist' },
  'a silent moderator approves': { seed: '24', invariant: 'moderation' },
  'rejection that is overlooked': { seed: '8', invariant: 'moderation' },
  'moderator’s outage that is charged': { seed: '24', invariant: 'outage' },
  'rescue that does not check the lease again': { seed: '219', invariant: 'lease' },
  'dead-letter sweep that ignores terminal state': { seed: '3', invariant: 'one_completion' },
  'dead letter of an old generation fails the new one': { seed: '51', invariant: 'dead_letter' },
  'redrive that leaves the relay its claim': { seed: '613', invariant: 'outbox_confirmed' },
  'dead letter deleted before its record': { seed: '3', invariant: 'deleted_when_durable' },
  'publishing again by age alone': { seed: '152', invariant: 'calm' },
  'objects deleted before the tombstone': { seed: '3', invariant: 'accepted_is_durable' },
}
