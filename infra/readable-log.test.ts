import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { readable } from './readable-log.ts'

const read = (line: object) => stripVTControlCharacters(readable(JSON.stringify(line)))
const HEAD = { time: '2026-12-01T09:30:00.123Z', level: 'info', app: 'worker', msg: 'claimed' }

it('a line of the log is one line on a terminal, its fields behind it', () => {
  expect(read({ ...HEAD, job_id: 'img_1', attempt: 1, sentence: 'two words', none: null })).toBe(
    '09:30:00.123 info  worker     claimed job_id=img_1 attempt=1 sentence="two words" none=null\n',
  )
})

it('an error has its stack below, indented; what else is in a line cannot break out of it', () => {
  const err = { type: 'Error', message: 'gone', stack: 'Error: gone\n    at here' }
  expect(read({ ...HEAD, err, note: 'a\nb\u001b[31m' })).toBe(
    '09:30:00.123 info  worker     claimed note="a\\nb\\u001b[31m"\n    Error: gone\n        at here\n',
  )
})
