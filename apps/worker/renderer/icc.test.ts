import { describe, expect, it } from 'vitest'
import { readIcc } from './icc.ts'
import {
  description,
  displayP3,
  gamma,
  greyProfile,
  iccProfile,
  localised,
  xyz,
} from './testing/icc-profile.ts'

const SRGB = {
  rXYZ: xyz(0.4361, 0.2225, 0.0139),
  gXYZ: xyz(0.3851, 0.7169, 0.0971),
  bXYZ: xyz(0.1431, 0.0606, 0.7141),
  rTRC: gamma(2.2),
  gTRC: gamma(2.2),
  bTRC: gamma(2.2),
}

describe('a profile', () => {
  it('tells its name, in both ways of writing it', () => {
    expect(readIcc(iccProfile('RGB ', { ...SRGB, desc: description('Some monitor') }))?.name).toBe(
      'Some monitor',
    )
    expect(readIcc(iccProfile('RGB ', { ...SRGB, desc: localised('Écran') }))?.name).toBe('Écran')
    expect(readIcc(iccProfile('RGB ', SRGB))?.name).toBeNull()
  })

  it('tells what colours it is of', async () => {
    expect(readIcc(iccProfile('RGB ', SRGB))).toMatchObject({ space: 'rgb', widerThanSrgb: false })
    expect(readIcc(greyProfile(2.2))).toMatchObject({ space: 'grey', widerThanSrgb: false })
    expect(readIcc(await displayP3())).toMatchObject({ space: 'rgb', widerThanSrgb: true })
    const adobe = { ...SRGB, rXYZ: xyz(0.6097, 0.3111, 0.0195), gXYZ: xyz(0.2053, 0.6257, 0.0609) }
    expect(readIcc(iccProfile('RGB ', adobe))).toMatchObject({ widerThanSrgb: true })
  })

  it('is none when it is cut off, wherever, or lacks what its kind needs', async () => {
    const whole = await displayP3()
    for (let bytes = 0; bytes < whole.length; bytes += 7) expect(readIcc(whole.subarray(0, bytes))).toBeNull()
    const { rTRC: _, ...curveless } = SRGB
    expect(readIcc(iccProfile('RGB ', curveless))).toBeNull()
    expect(readIcc(iccProfile('RGB ', { ...SRGB, rTRC: description('no curve') }))).toBeNull()
    expect(readIcc(iccProfile('CMYK', { desc: description('no table') }))).toBeNull()
  })

  it('is never an error, whatever its bytes are', async () => {
    const whole = await displayP3()
    for (let at = 0; at < whole.length; at++) {
      for (const byte of [0, 0xff]) {
        const damaged = Buffer.from(whole)
        damaged[at] = byte
        expect(() => readIcc(damaged)).not.toThrow()
      }
    }
  })
})
