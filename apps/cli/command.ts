import type { Kysely } from 'kysely'
import type { Database } from '../../db/schema.ts'

/** What a command says: `output` on stdout, for scripts; `note` on stderr, for people. A string is output alone. */
export type Answer = string | { output: string; note?: string }

export interface Command {
  /** Its command lines, each with its meaning below it, indented. */
  usage: string
  /**
   * @param args what follows the command's word
   * @throws {UsageError} for a command line that it does not understand; any other error's message is a sentence
   */
  run(db: Kysely<Database>, args: string[]): Promise<Answer>
}
