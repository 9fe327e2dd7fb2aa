import type { MarkdownOptions, ThemeOptions } from 'vitepress'

/**
 * Colours of code by class. A theme of Shiki writes `style` attributes, which the Content-Security-Policy rejects, so this one has
 * the number of a class in the place of each colour; `theme/style.css` has the colours, those of the console, light and dark.
 */

const scopes: Readonly<Record<string, readonly string[]>> = {
  'code-comment': ['comment', 'punctuation.definition.comment'],
  'code-value': ['string', 'constant.other.symbol', 'markup.inline.raw'],
  'code-number': ['constant', 'support.constant', 'variable.language'],
  'code-operator': ['keyword', 'storage', 'entity.name.tag', 'punctuation.definition.template-expression'],
  'code-field': [
    'entity.name',
    'entity.other.attribute-name',
    'support.function',
    'support.type.property-name',
    'meta.object-literal.key',
    'variable.other.assignment',
    'markup.heading',
  ],
}

const classes = Object.keys(scopes)
const colourOf = (index: number) => `#0000${(index + 1).toString().padStart(2, '0')}`

export const codeTheme: ThemeOptions = {
  name: 'quartermaster',
  type: 'light',
  fg: '#000000',
  bg: '#ffffff',
  settings: classes.map((name, index) => ({
    scope: [...(scopes[name] ?? [])],
    settings: { foreground: colourOf(index) },
  })),
}

type Transformers = NonNullable<MarkdownOptions['codeTransformers']>

/** Replaces the colour of each token by its class. Runs last: VitePress removes the style of the block itself. */
export const codeTransformers: Transformers = [
  {
    name: 'colour-to-class',
    span(node) {
      const { style } = node.properties
      delete node.properties['style']
      const name = classes.find((_, index) => String(style).toLowerCase().includes(colourOf(index)))
      if (name !== undefined) this.addClassToHast(node, name)
    },
  },
]
