/** HTML that is safe as it stands: made by {@link html} alone. */
export interface Html {
  html: string
}

type Part = Html | string | number | false | null | undefined | readonly Part[]

/** Tagged template: what is put in is escaped, unless it is HTML itself. */
export function html(texts: TemplateStringsArray, ...parts: Part[]): Html {
  return { html: texts.reduce((page, text, i) => page + written(parts[i - 1]) + text) }
}

function written(part: Part): string {
  if (part === false || part === null || part === undefined) return ''
  if (typeof part === 'object') return 'html' in part ? part.html : part.map(written).join('')
  return String(part).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

/** Text with `code`, and with lists and paragraphs as Markdown has them; nothing else of it. */
export function prose(text = ''): Html[] {
  return text.split(/\n\n+/).map((block) => {
    const lines = block.split('\n')
    if (!lines.every((line) => line.startsWith('- '))) return html`<p>${inline(block)}</p>`
    return html`<ul>${lines.map((line) => html`<li>${inline(line.slice(2))}</li>`)}</ul>`
  })
}

export function inline(text = ''): Html[] {
  return text.split('`').map((piece, i) => (i % 2 ? html`<code>${piece}</code>` : html`${piece}`))
}
