import { DependencyError, WorkError } from '../../../core/errors.ts'
import type { Moderator } from '../../../core/ports/moderator.ts'
import type { SimulatedPorts } from '../simulated-ports.ts'
import type { Mutant } from './mutant.ts'

export const moderationMutants: Mutant[] = [
  {
    name: 'a silent moderator approves',
    wrong: 'a picture of which the moderator says nothing passes for approved',
    mutate: (ports) =>
      withJudge(
        ports,
        (judge) => (picture, signal) =>
          judge(picture, signal).catch(() => ({ verdict: 'approved', labels: [] })),
      ),
  },
  {
    name: 'rejection that is overlooked',
    wrong: 'what was rejected is taken for approved, and shown',
    mutate: (ports) =>
      withJudge(ports, (judge) => async (picture, signal) => ({
        ...(await judge(picture, signal)),
        verdict: 'approved',
      })),
  },
  {
    name: 'moderator’s outage that is charged',
    wrong: 'an attempt that the moderator fails is charged like one that the image fails',
    mutate: (ports) =>
      withJudge(ports, (judge) => async (picture, signal) => {
        try {
          return await judge(picture, signal)
        } catch (error) {
          if (!(error instanceof DependencyError)) throw error
          throw new WorkError('moderation_failed', error.message, { cause: error })
        }
      }),
  },
]

function withJudge(
  ports: SimulatedPorts,
  change: (judge: Moderator['judge']) => Moderator['judge'],
): SimulatedPorts {
  const { moderator } = ports
  return { ...ports, moderator: moderator && { ...moderator, judge: change(moderator.judge) } }
}
