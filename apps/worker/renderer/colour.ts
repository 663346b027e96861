import type { ImageFacts } from '../../../core/image/verdict.ts'
import type { ImageWarning } from '../../../core/image/warnings.ts'
import { type Cicp, type Conversion, conversionOf, isSrgb } from './cicp.ts'
import type { IccProfile } from './icc.ts'
import type { Frames } from './picture.ts'

/** How an image's colours become sRGB. */
export interface ColourPlan {
  /** By its tag, here; null: by the decoder, with the profile where there is one. */
  tagged: { cicp: Cicp; conversion: Conversion } | null
  ignoreProfile: boolean
  /** Whether the profile has colours that sRGB has not. */
  wide: boolean
  warnings: ImageWarning[]
}

/** What the decoder says of an image's colours. */
export interface ColourSource {
  /** The decoder's name of their space. */
  space: string
  /** Whether there are bytes that would be a profile. */
  hasProfile: boolean
  /** Those bytes, where they can be used. */
  profile: IccProfile | null
}

export function planColour(facts: ImageFacts, { space, hasProfile, profile }: ColourSource): ColourPlan {
  const warnings: ImageWarning[] = []
  const warn = (code: ImageWarning['code'], message: string) => warnings.push({ code, message })
  const plan: ColourPlan = { tagged: null, ignoreProfile: false, wide: false, warnings }

  const bits = facts.bitDepth ?? 8
  if (bits > 8) {
    warn('bit_depth_reduced', `the image has ${bits} bits a sample, of which the outputs keep 8`)
  }
  if (facts.gainMap) {
    warn('gain_map_lost', 'the image has a gain map for HDR screens, which the outputs do not')
  }

  // In PNG the tag is above the profile, in AVIF the profile is above the tag.
  const { cicp } = facts
  const usable = profile !== null && fits(profile, space)
  if (cicp && (facts.type === 'png' || !usable)) {
    const conversion = conversionOf(cicp)
    plan.ignoreProfile = true
    if (!conversion) {
      warn(
        'profile_broken',
        `the colours are tagged as primaries ${cicp.primaries}, transfer ${cicp.transfer}, which is not known here; they are shown as sRGB`,
      )
    } else if (!isSrgb(conversion)) {
      plan.tagged = { cicp, conversion }
      if (conversion.highDynamicRange) {
        warn('hdr_lost', 'the image has a high dynamic range; the outputs are tone-mapped to the usual one')
      }
    }
    return plan
  }

  if (usable) {
    plan.wide = profile.widerThanSrgb
  } else if (hasProfile) {
    plan.ignoreProfile = true
    // A grey picture with a profile for colours is usual, and nothing is lost without.
    if (!(profile?.space === 'rgb' && isGrey(space))) {
      const why = profile === null ? 'is damaged' : `is one for ${profile.space}`
      warn('profile_broken', `the image’s colour profile ${why}; its colours are converted without`)
    }
  }
  if (space === 'cmyk' && !usable) {
    warn(
      'profile_missing',
      'the image is CMYK without a usable profile: its colours are those of a usual press',
    )
  }
  return plan
}

export const clippedWarning: ImageWarning = {
  code: 'gamut_clipped',
  message: 'some of the image’s colours lie outside of sRGB; the outputs have the nearest of its edge',
}

/** The share of pixels that must lie outside before it is worth a warning. */
export const CLIPPED_SHARE = 0.001

/**
 * The share of pixels that lie at the very edge of sRGB's colours. In a picture of a wider profile they were, or may have
 * been, outside: the decoder converts and clips in one step.
 */
export function atEdge({ data, channels }: Frames): number {
  let edge = 0
  for (let at = 0; at < data.length; at += channels) {
    const [r, g, b] = [data[at]!, data[at + 1]!, data[at + 2]!]
    const [least, most] = [Math.min(r, g, b), Math.max(r, g, b)]
    // Black and white are in every gamut.
    if ((least === 0 && most > SATURATED) || (most === 255 && least < 255 - SATURATED)) edge++
  }
  return edge / (data.length / channels)
}

const SATURATED = 48

function fits({ space: profile }: IccProfile, space: string): boolean {
  if (space === 'cmyk') return profile === 'cmyk'
  if (isGrey(space)) return profile === 'grey'
  if (space === 'srgb' || space === 'rgb16') return profile === 'rgb'
  return true
}

function isGrey(space: string): boolean {
  return space === 'b-w' || space === 'grey16'
}
