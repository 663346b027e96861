import { admissionMutants } from './admission.ts'
import { moderationMutants } from './moderation.ts'
import type { Mutant } from './mutant.ts'
import { publishingMutants } from './publishing.ts'
import { sweepMutants } from './sweeps.ts'
import { workMutants } from './work.ts'

export const MUTANTS: readonly Mutant[] = [
  ...admissionMutants,
  ...publishingMutants,
  ...workMutants,
  ...moderationMutants,
  ...sweepMutants,
]
