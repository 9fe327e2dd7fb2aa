/** The packages of which the built site has code. `licences.ts` compares the list with the build; the SBOM of the service has them. */
export const bundled: readonly string[] = [
  '@docsearch/css',
  '@vue/reactivity',
  '@vue/runtime-core',
  '@vue/runtime-dom',
  '@vue/shared',
  '@vueuse/core',
  '@vueuse/integrations',
  '@vueuse/shared',
  'focus-trap',
  'mark.js',
  'minisearch',
  'tabbable',
  'vitepress',
  'vue',
]
