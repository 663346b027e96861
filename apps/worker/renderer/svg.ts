import sharp from 'sharp'

/**
 * Runs `work` with the SVG loader allowed, which is blocked in this process before and after. From a buffer it has no
 * address, and so loads nothing from beside it, from a file or from the network.
 */
export async function withSvgLoader<T>(work: () => Promise<T>): Promise<T> {
  sharp.unblock({ operation: SVG_LOADER })
  try {
    return await work()
  } finally {
    sharp.block({ operation: SVG_LOADER })
  }
}

/** The SVG in the one encoding in which the decoder recognises it. */
export function asUtf8(svg: Buffer): Buffer {
  const encoding = ENCODINGS[svg.toString('hex', 0, 2)]
  if (!encoding) return svg
  const text = new TextDecoder(encoding).decode(svg)
  // A declaration that names the old encoding would make nonsense of the new one.
  return Buffer.from(text.replace(/^(<\?xml[^>]*?)\s+encoding\s*=\s*(?:"[^"]*"|'[^']*')/, '$1'))
}

const ENCODINGS: Record<string, string> = { fffe: 'utf-16le', feff: 'utf-16be' }
const SVG_LOADER = ['VipsForeignLoadSvgBuffer']
