import { BAD_IMAGES } from './images/bad-images.ts'
import { GOOD_IMAGES } from './images/good-images.ts'
import type { Maker, TestImage } from './images/test-image.ts'

export { type SharedImage, sharedImages, sharedImagesCount } from './images/shared-images.ts'
export type { Expectation, TestImage } from './images/test-image.ts'

const MAKERS = { ...GOOD_IMAGES, ...BAD_IMAGES }

export type TestImageName = keyof typeof MAKERS

export const TEST_IMAGE_NAMES = Object.keys(MAKERS) as TestImageName[]

const made = new Map<TestImageName, Promise<TestImage>>()

/** One of the project's own images: the same bytes on every call and every run, made once a process. */
export function testImage(name: TestImageName): Promise<TestImage> {
  let image = made.get(name)
  if (!image) {
    const make: Maker = MAKERS[name]
    image = make().then((parts) => ({ name, ...parts }))
    made.set(name, image)
  }
  return image
}

/** All of them: good and bad, of every accepted type and of many others. */
export function testImages(): Promise<TestImage[]> {
  return Promise.all(TEST_IMAGE_NAMES.map(testImage))
}
