import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** One of the real images that are kept outside of the repository, with what its manifest says of it. */
export interface SharedImage {
  name: string
  path: string
  special: string
  /** Begins with "accept" or "reject". */
  rightOutcome: string
  read(): Buffer
}

/**
 * The real images that are present: in the folder that `IMG42_IMAGES` names, or in `../shared/images` beside the
 * repository. Both lists are empty where there is no manifest.
 */
export function sharedImages(): { images: SharedImage[]; absent: string[] } {
  const folder = process.env.IMG42_IMAGES || path.resolve(import.meta.dirname, '../../../shared/images')
  const manifest = path.join(folder, 'manifest.tsv')
  if (!existsSync(manifest)) return { images: [], absent: [] }
  const [columns, ...rows] = readFileSync(manifest, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t'))
  const column = (row: string[], name: string) => row[columns!.indexOf(name)] ?? ''
  const all = rows.map((row): SharedImage => {
    const name = column(row, 'file')
    const file = path.join(folder, name)
    return {
      name,
      path: file,
      special: column(row, 'special'),
      rightOutcome: column(row, 'right_outcome'),
      read: () => readFileSync(file),
    }
  })
  const present = (image: SharedImage) => existsSync(image.path)
  return {
    images: all.filter(present),
    absent: all.filter((image) => !present(image)).map(({ name }) => name),
  }
}

/** For the last line of a run: nobody is to take images that were not there for images that were right. */
export function sharedImagesCount(): string {
  const { images, absent } = sharedImages()
  if (images.length + absent.length === 0) return 'no real images: there is no manifest of them'
  return `${images.length} real images present, ${absent.length} absent`
}
