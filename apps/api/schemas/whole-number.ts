import { z } from 'zod'

/** A whole number as a URL or a header writes it: decimal digits, and nothing else that JavaScript reads as a number. */
export function wholeNumber(least: number, most: number = Number.MAX_SAFE_INTEGER) {
  const error = () => `has to be a whole number from ${least} to ${most}`
  return z
    .string()
    .regex(/^\d{1,15}$/, { error })
    .transform(Number)
    .pipe(z.int({ error }).min(least, { error }).max(most, { error }))
}
