import { faultOf, hasFault } from '../../core/image/fault.ts'
import { IMAGE_WARNINGS } from '../../core/image/warnings.ts'
import { JOB_ERRORS } from '../../core/job-errors.ts'
import type { Sheet } from './sheets.ts'

/** The part of docs/images.md that is made: tables of codes, and the sheets. */
export function madePart(sheets: readonly Sheet[], engine: string): string {
  return [
    '## Warnings',
    '',
    'What a job’s `warnings[]` may say of its image, by `code`:',
    '',
    ...table(
      ['code', 'meaning'],
      Object.entries(IMAGE_WARNINGS).map(([code, meaning]) => [`\`${code}\``, meaning]),
    ),
    '',
    '## Codes of failed images',
    '',
    'Those of a job’s `error.code` that are about its image. `fault` says whose it is: the file’s, or of a limit or a type of this service.',
    '',
    ...table(
      ['code', 'fault', 'meaning'],
      Object.entries(JOB_ERRORS).flatMap(([code, { meaning }]) =>
        hasFault(code) ? [[`\`${code}\``, faultOf(code), meaning]] : [],
      ),
    ),
    '',
    '## To be looked at',
    '',
    `Made by \`npm run pictures\` with ${engine}, from images that the project makes itself. What is called an output is the file that the service gives out, byte for byte.`,
    ...sheets.flatMap(section),
    '',
  ].join('\n')
}

function section({ title, text, columns, rows }: Sheet): string[] {
  const cells = rows.map(({ label, cells }) => [label, ...cells.map(({ file }) => `![](images/${file})`)])
  return ['', `### ${title}`, '', text, '', ...table(['', ...columns], cells)]
}

function table(head: string[], rows: string[][]): string[] {
  const widths = head.map((cell, i) => Math.max(3, cell.length, ...rows.map((row) => row[i]!.length)))
  const line = (cells: string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)]
}
