import { isTerminal, type Job } from './job.ts'

/**
 * What a message in the dead-letter queue means for its job. Being received too often proves nothing about the job: the
 * deliveries may all have met a finished one.
 *
 * @param job as its row stands, locked; null when there is none
 * @param redrivenGeneration the generation in which a dead letter was answered with a new message already
 * @param generation the message's
 */
export function judgeDeadLetter(
  job: Job | null,
  redrivenGeneration: number,
  generation: number,
  budget: number,
): 'no_such_job' | 'false_quarantine' | 'superseded' | 'hold' | 'republish' | 'fail' {
  if (!job) return 'no_such_job'
  if (isTerminal(job.status)) return 'false_quarantine'
  if (generation < job.generation) return 'superseded'
  if (job.held) return 'hold'
  // Once a generation: a message that dies again would otherwise go round for ever.
  return job.attempts < budget && redrivenGeneration < job.generation ? 'republish' : 'fail'
}
