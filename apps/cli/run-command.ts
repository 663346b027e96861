import { openDatabase } from '../../db/connect.ts'
import type { Answer, Command } from './command.ts'
import { explainDatabaseError, findDatabaseUrl } from './database.ts'
import { UsageError } from './usage-error.ts'

/** What becomes of one command line. Exit code 0: done; 1: not done; 2: not understood. */
export interface Outcome {
  exitCode: 0 | 1 | 2
  stdout: string
  stderr: string
}

/** The deadline of each statement, and of the connection. */
const CALL_MS = 10_000

/**
 * Runs a command line, on the database that `env` names. Never rejects.
 *
 * @param commands by their first word
 */
export async function runCommand(
  commands: Record<string, Command>,
  [word, ...args]: string[],
  env: NodeJS.ProcessEnv,
): Promise<Outcome> {
  const all = Object.values(commands)
  if (word === undefined) return { exitCode: 2, stdout: '', stderr: usage(all) }
  if (HELP.includes(word)) return { exitCode: 0, stdout: usage(all), stderr: '' }
  const command = Object.hasOwn(commands, word) ? commands[word]! : null
  if (!command) return misunderstood(`there is no command ${word}`, all)
  if (args.some((arg) => arg !== 'help' && HELP.includes(arg))) {
    return { exitCode: 0, stdout: usage([command]), stderr: '' }
  }
  try {
    const answer = await onDatabase(command, args, env)
    const { output, note = '' } = typeof answer === 'string' ? { output: answer } : answer
    return { exitCode: 0, stdout: output, stderr: note }
  } catch (error) {
    if (error instanceof UsageError) return misunderstood(error.message, [command])
    return { exitCode: 1, stdout: '', stderr: `img42: ${explainDatabaseError(error)}` }
  }
}

const HELP = ['help', '--help', '-h']

async function onDatabase(command: Command, args: string[], env: NodeJS.ProcessEnv): Promise<Answer> {
  const db = openDatabase(findDatabaseUrl(env), { max: 1, callMs: CALL_MS, application: 'img42-cli' })
  try {
    return await command.run(db, args)
  } finally {
    await db.destroy()
  }
}

function misunderstood(why: string, commands: Command[]): Outcome {
  return { exitCode: 2, stdout: '', stderr: `img42: ${why}\n\n${usage(commands)}` }
}

function usage(commands: Command[]): string {
  const lines = commands.map((command) => command.usage).join('\n')
  return (
    `Usage: npm run img42 -- <command>\n\n${lines}\n\n` +
    'Works on DATABASE_URL, or on the database of the npm start that runs on DATA_DIR.'
  )
}
