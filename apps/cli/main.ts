/**
 * `npm run img42 -- <command>`: what operators do by hand. Exit code 0: done; 1: not done, and why on stderr; 2: the
 * command line was not understood.
 */
import { COMMANDS } from './commands.ts'
import { runCommand } from './run-command.ts'

const { exitCode, stdout, stderr } = await runCommand(COMMANDS, process.argv.slice(2), process.env)
if (stdout) console.log(stdout)
if (stderr) console.error(stderr)
process.exitCode = exitCode
