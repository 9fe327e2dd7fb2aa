import Fastify from 'fastify'
import { hashSource, noIcon, type Page, pageOf } from './page.ts'
import { referenceStyle } from './style.ts'

export interface Reference {
  readonly page: Page
  readonly script: Page
}

/** All features that send requests to other hosts are disabled: fonts, telemetry, proxy, assistant and links to tools. */
const configuration = {
  url: '/openapi.json',
  pageTitle: 'Quartermaster reference',
  cdn: '/reference/scalar.js',
  bundle: false,
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: '',
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  // Only our own samples, which `npm run verify` executes; not the ones that Scalar generates.
  hiddenClients: true,
  defaultOpenAllTags: true,
  theme: 'default',
  customCss: referenceStyle,
} as const

/**
 * The page and script of the Scalar plugin. Loaded on the first request for the reference: the script has 4 MB, which most
 * processes never need.
 */
export async function scalarReference(): Promise<Reference> {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const scratch = Fastify()
  const servers = [{ url: '/', description: 'This host' }]
  await scratch.register(scalar, {
    routePrefix: '/reference',
    configuration: { ...configuration, servers },
  })
  const page = await scratch.inject('/reference/')
  const script = await scratch.inject('/reference/js/scalar.js')
  await scratch.close()
  return {
    page: await pageOf(
      'text/html; charset=utf-8',
      page.body.replace('</head>', `${noIcon}</head>`),
      policyOf(page.body),
    ),
    // The bundle names a source map that is not part of the package.
    script: await pageOf(
      'text/javascript; charset=utf-8',
      script.body.replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n'),
    ),
  }
}

/** Allows only the bundled script and the inline one, and requests to this host. Scalar uses inline styles. */
function policyOf(page: string): string {
  const inline = page
    .split('<script')
    .slice(1)
    .map((part) => part.slice(0, part.indexOf('</script>')))
    .filter((part) => !part.slice(0, part.indexOf('>')).includes(' src='))
    .map((part) => hashSource(part.slice(part.indexOf('>') + 1)))
  return [
    "default-src 'none'",
    `script-src 'self' ${inline.join(' ')}`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
