import path from 'node:path'
import { openRenderer } from '../../apps/worker/renderer/pool.ts'
import { DEFAULT_LIMITS } from '../../core/limits.ts'
import { madePart } from './page.ts'
import { makeSheets, type Picture } from './sheets.ts'

const DOCS = path.resolve(import.meta.dirname, '../../docs')
export const PAGE = path.join(DOCS, 'images.md')
export const FOLDER = path.join(DOCS, 'images')

/** What stands behind this line of the page is made. */
export const MADE_FROM_HERE = '<!-- Made by `npm run pictures` from here on. -->'

/** The page's made part, and the pictures that it shows. */
export async function make(): Promise<{ text: string; pictures: Picture[] }> {
  const renderer = await openRenderer({ concurrency: 2, limits: DEFAULT_LIMITS })
  try {
    const sheets = await makeSheets(renderer)
    const pictures = sheets.flatMap(({ rows }) => rows.flatMap(({ cells }) => cells))
    return { text: madePart(sheets, renderer.engine), pictures }
  } finally {
    await renderer.close()
  }
}
