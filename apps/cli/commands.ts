import { CALLBACKS_USAGE, callbacksCommand } from './callbacks.ts'
import type { Command } from './command.ts'
import { KEYS_USAGE, keysCommand } from './keys.ts'

/** Every command, by the word that it begins with. */
export const COMMANDS: Record<string, Command> = {
  keys: { usage: KEYS_USAGE, run: keysCommand },
  callbacks: { usage: CALLBACKS_USAGE, run: callbacksCommand },
}
