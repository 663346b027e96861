/** The page's style: system fonts, one column and a list of contents, light or dark as the reader has it. */
export const STYLE = `
:root { color-scheme: light dark; --text: #1c2430; --dim: #5c6778; --line: #dfe4ea; --back: #fff; --panel: #f6f8fa;
  --get: #1769c4; --post: #1a7f37; --delete: #b3261e; --link: #1769c4 }
@media (prefers-color-scheme: dark) { :root { --text: #dde3ec; --dim: #94a0b2; --line: #2d3540; --back: #12161c;
  --panel: #1a2029; --get: #63a8f4; --post: #58c274; --delete: #f2847c; --link: #7ab5f7 } }
* { box-sizing: border-box }
html { scroll-behavior: smooth; scroll-padding-top: 1rem }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.55 system-ui, sans-serif;
  display: grid; grid-template-columns: 17rem minmax(0, 52rem); gap: 3rem; padding: 0 1.5rem }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 2rem 0; font-size: .875rem }
nav h2 { font-size: .75rem; letter-spacing: .06em; text-transform: uppercase; color: var(--dim); margin: 1.4rem 0 .3rem }
nav ul { list-style: none; margin: 0; padding: 0 }
nav li { padding: .15rem 0; white-space: nowrap; overflow: hidden; text-overflow: ellipsis }
nav a { color: inherit; text-decoration: none } nav a:hover { text-decoration: underline }
main { padding: 2rem 0 6rem }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .5rem } h1 small { font-size: 1rem; font-weight: 400; color: var(--dim) }
h2.tag { font-size: 1.4rem; margin: 3.5rem 0 0; padding-top: 1rem; border-top: 1px solid var(--line) }
h3 { font-size: 1.1rem; margin: 0 } h4 { font-size: .8rem; letter-spacing: .05em; text-transform: uppercase;
  color: var(--dim); margin: 1.4rem 0 .4rem }
article { margin: 1.5rem 0; padding: 1.25rem 1.5rem; border: 1px solid var(--line); border-radius: 10px }
.line { font: 600 .95rem/1.6 ui-monospace, monospace; overflow-wrap: anywhere; margin: .25rem 0 .75rem }
.method { color: var(--get); margin-right: .6rem } .post { color: var(--post) } .delete { color: var(--delete) }
nav .method { display: inline-block; width: 3.2rem; margin: 0; font: 600 .7rem ui-monospace, monospace }
code, pre { font: .875em/1.5 ui-monospace, monospace } p code, li code, td code, dd code { background: var(--panel);
  border-radius: 4px; padding: .1em .3em }
pre { background: var(--panel); border-radius: 8px; padding: .9rem 1rem; overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: .9rem } td, th { text-align: left; vertical-align: top;
  padding: .45rem .75rem .45rem 0; border-bottom: 1px solid var(--line) } th { color: var(--dim); font-weight: 500 }
td:first-child { white-space: nowrap } td > p, td > ul { margin: .1rem 0 } td ul, article ul { padding-left: 1.1rem }
.dim, .type { color: var(--dim) } .open { float: right; font-size: .8rem; color: var(--dim) }
details { margin: .5rem 0; border-top: 1px solid var(--line) } summary { cursor: pointer; padding: .5rem 0 }
summary b { font-family: ui-monospace, monospace; margin-right: .5rem } a { color: var(--link) }
@media (max-width: 60rem) { body { display: block } nav { position: static; height: auto; padding-bottom: 0 }
  article { padding: 1rem; overflow-x: auto } td { overflow-wrap: anywhere; min-width: 4.5rem } td:first-child { white-space: normal } }
`
