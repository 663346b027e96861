import type { Jobs } from './ports/jobs.ts'

/**
 * The same jobs, each of whose transitions is told of once its statement has been answered. One whose answer was lost is
 * not: whoever is told looks by itself as well.
 */
export function announceTransitions(jobs: Jobs, announce: (jobId: string) => void): Jobs {
  const each = (jobIds: string[]) => {
    for (const jobId of jobIds) announce(jobId)
    return jobIds
  }
  return {
    ...jobs,
    async claim(claim) {
      const outcome = await jobs.claim(claim)
      // Finished: perhaps by this claim, which found the budget spent or the deadline past.
      if (outcome.kind === 'claimed' || outcome.kind === 'finished') announce(claim.jobId)
      return outcome
    },
    async end(end) {
      const ended = await jobs.end(end)
      // Not ended may be the answer to a statement repeated, whose first answer was lost.
      announce(end.jobId)
      return ended
    },
    async putBack(given) {
      const back = await jobs.putBack(given)
      if (back) announce(given.jobId)
      return back
    },
    rescue: async (sweep) => each(await jobs.rescue(sweep)),
    expire: async (sweep) => each(await jobs.expire(sweep)),
    async takeDeadLetter(letter) {
      const verdict = await jobs.takeDeadLetter(letter)
      if (letter.jobId !== null) announce(letter.jobId)
      return verdict
    },
    async bury(jobId) {
      const buried = await jobs.bury(jobId)
      announce(jobId)
      return buried
    },
  }
}
