import { describe, expect, it } from 'vitest'
import { DEFAULT_PRESET } from './preset.ts'
import { parsePresets } from './preset-file.ts'

const withOutput = (output: object) => ({ presets: { product: { outputs: [{ name: 'small', ...output }] } } })

function presetsIn(file: object) {
  const parsed = parsePresets(JSON.stringify(file))
  if (!parsed.ok) throw new Error(parsed.complaints.join(' '))
  return parsed.presets
}

function complaintsOf(file: object | string): string[] {
  const parsed = parsePresets(typeof file === 'string' ? file : JSON.stringify(file))
  if (parsed.ok) throw new Error('it was accepted')
  return parsed.complaints
}

const WHERE = 'presets.product.outputs[0]'

describe('a file of presets', () => {
  it('needs of an output nothing but its name', () => {
    expect(presetsIn(withOutput({})).get('product')).toEqual({
      linear: false,
      keepCopyright: false,
      outputs: [
        {
          ...{ name: 'small', width: null, height: null, fit: 'inside', position: 'centre' },
          ...{ background: '#ffffff', enlarge: false, format: 'auto', avif: false },
          ...{ quality: null, animated: false },
        },
      ],
    })
  })

  it('stands beside the built-in preset, and in its place where one has its name', () => {
    expect(presetsIn(withOutput({})).get('thumbnail')).toEqual(DEFAULT_PRESET)
    const own = presetsIn({ presets: { thumbnail: { outputs: [{ name: 'tiny', width: 1 }] } } })
    expect(own.get('thumbnail')).toMatchObject({ outputs: [{ name: 'tiny', width: 1 }] })
    expect([...own.keys()]).toEqual(['thumbnail'])
  })

  it.each([
    [{ width: 1, height: 16_384 }],
    [{ fit: 'cover', width: 3, height: 4, position: { x: 0, y: 1 } }],
    [{ fit: 'contain', width: 3, height: 4, position: 'southwest', background: '#12aBcD80' }],
    [{ format: 'auto', avif: true, quality: 1, animated: true }],
    [{ format: 'webp', quality: 100, animated: true, enlarge: true }],
  ])('takes an output of %j', (output) => {
    expect(presetsIn(withOutput(output)).get('product')?.outputs[0]).toMatchObject(output)
  })

  it.each([
    [{ width: '320' }, `${WHERE}.width has to be a whole number from 1 to 16384, not the text "320"`],
    [{ width: 0 }, `${WHERE}.width has to be a whole number from 1 to 16384, not 0`],
    [{ height: 16_385 }, `${WHERE}.height has to be a whole number from 1 to 16384, not 16385`],
    [{ height: 1.5 }, `${WHERE}.height has to be a whole number from 1 to 16384, not 1.5`],
    [{ quality: 101 }, `${WHERE}.quality has to be a whole number from 1 to 100, not 101`],
    [{ fit: 'fill' }, `${WHERE}.fit has to be one of inside, cover, contain, not the text "fill"`],
    [{ enlarge: 'yes' }, `${WHERE}.enlarge has to be true or false, not the text "yes"`],
    [
      { background: 'white' },
      `${WHERE}.background has to be a colour such as #ffffff or #ffffff80, not the text "white"`,
    ],
    [
      { format: 'heic' },
      `${WHERE}.format has to be one of auto, basic, jpeg, webp, avif, png, gif, not the text "heic"`,
    ],
    [{ colour: 1 }, `${WHERE} has an unknown field: colour`],
    [{ name: 'original' }, `${WHERE}.name cannot be original, which is the original’s`],
    [{ fit: 'cover', width: 9 }, `${WHERE}.height has to be given with fit cover`],
    [{ position: 'north' }, `${WHERE}.position is for fit cover and contain only`],
    [{ width: 16_384, height: 16_384 }, `${WHERE}.height makes width × height more than 100000000 pixels`],
    [{ avif: true, format: 'webp' }, `${WHERE}.avif is for format auto only`],
    [{ quality: 9, format: 'png' }, `${WHERE}.quality is not for format png, which loses nothing to it`],
    [
      { animated: true, format: 'jpeg' },
      `${WHERE}.animated is not for format jpeg, of which only still pictures are made`,
    ],
  ])('refuses an output of %j, saying where, what it has to be and what it is', (output, complaint) => {
    expect(complaintsOf(withOutput(output))).toEqual([complaint])
  })

  it.each([
    { name: '' },
    { name: '../x' },
    { name: 'a/b' },
    { name: 'A' },
    { name: 'x'.repeat(65) },
    { name: 7 },
  ])('refuses an output whose name is no part of a key: %j', (output) => {
    expect(complaintsOf(withOutput(output))[0]).toMatch(
      /^presets\.product\.outputs\[0\]\.name has to be a name of/,
    )
  })

  it.each([
    ['{', /^the file is no JSON: /],
    ['[]', /^the file has to be an object, not a list of 0$/],
    [{}, /^presets is missing: it has to be an object of 1 to 100 presets/],
    [{ presets: {} }, /^presets has to be an object of 1 to 100 presets/],
    [
      { presets: { p: { outputs: [] } } },
      /^presets\.p\.outputs has to be a list of 1 to 16 outputs, not a list of 0$/,
    ],
    [{ presets: { p: { outputs: [null] } } }, /^presets\.p\.outputs\[0\] has to be an object, not null$/],
    [
      { presets: { 'a b': { outputs: [{ name: 'a' }] } } },
      /^presets\.a b: a preset’s name has to be a name of/,
    ],
    [
      { presets: { p: { outputs: [{ name: 'a' }, { name: 'a' }] } } },
      /outputs\[1\]\.name is another output’s as well$/,
    ],
  ])('refuses %j', (file, complaint) => {
    expect(complaintsOf(file)[0]).toMatch(complaint)
  })

  it('holds 16 outputs a preset and 100 presets, and no more', () => {
    const outputs = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `o${i}` }))
    const presets = (count: number) =>
      Object.fromEntries(outputs(count).map(({ name }) => [name, { outputs: outputs(1) }]))
    expect(presetsIn({ presets: { p: { outputs: outputs(16) } } }).get('p')?.outputs).toHaveLength(16)
    expect(complaintsOf({ presets: { p: { outputs: outputs(17) } } })).toHaveLength(1)
    expect(presetsIn({ presets: presets(100) }).size).toBe(101)
    expect(complaintsOf({ presets: presets(101) })).toHaveLength(1)
  })

  it('is told of everything that is wrong with it at once', () => {
    expect(complaintsOf(withOutput({ width: 0, height: null, fit: 'none', extra: 1 }))).toHaveLength(3)
  })
})
