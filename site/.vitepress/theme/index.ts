import { onContentUpdated, type Theme, useRoute } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
import { SiteAudiences } from './audiences.ts'
import { showOwnHost } from './own-host.ts'
import './style.css'

const theme: Theme = {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('SiteAudiences', SiteAudiences)
  },
  setup() {
    const route = useRoute()
    onContentUpdated(() => showOwnHost(route.path))
  },
}

export default theme
