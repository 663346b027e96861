import type { Mutation, TableMutation } from '../world.ts'

/** A protocol with one thing wrong, to show that the simulation would notice. */
export interface Mutant {
  name: string
  /** What it does otherwise than the service. */
  wrong: string
  mutate?: Mutation
  mutateTables?: TableMutation
}
