import type { Moderation } from '../job.ts'

/**
 * Somebody else's judgement of a picture: slow, and failing at times. Asked once in each attempt, always under the job's
 * id, so that it may answer a repeated question from what it remembers.
 */
export interface Moderator {
  /**
   * Rejects with a {@link DependencyError} when the moderator cannot be asked, fails, or answers what is no verdict, and
   * with a {@link WorkError} (`moderation_failed`) when it says that it is this very picture that it cannot judge.
   */
  judge(picture: PictureToJudge, signal: AbortSignal): Promise<Moderation>
  /** Resolves when it can judge a picture; rejects with a {@link DependencyError} as {@link judge} does. */
  ping(signal: AbortSignal): Promise<void>
}

export interface PictureToJudge {
  jobId: string
  contentType: string
  body: Uint8Array
}
