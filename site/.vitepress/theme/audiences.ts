import { withBase } from 'vitepress'
import { defineComponent, h } from 'vue'
import { data as audiences } from './audiences.data.ts'

/** The start page: one card for each kind of reader. */
export const SiteAudiences = defineComponent({
  name: 'SiteAudiences',
  render: () =>
    h(
      'nav',
      { class: 'audiences', 'aria-label': 'Parts of this site' },
      audiences.map(({ text, summary, links: [first = '/'] }) =>
        h('a', { href: withBase(first) }, [h('strong', text), h('span', summary)]),
      ),
    ),
})
