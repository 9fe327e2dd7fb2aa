/**
 * Corrections of Scalar's style: it breaks words in narrow columns of tables, hides statuses that do not fit next to the copy
 * button, and its code is too large for our samples. `!important`, because Scalar's own rules are more specific.
 */
export const referenceStyle = `
.markdown table{table-layout:auto!important}
.markdown :is(th,td){word-break:normal!important;overflow-wrap:normal!important;hyphens:none!important}
.markdown :is(th,td) *{word-break:normal!important;overflow-wrap:break-word!important}
.markdown :is(th,td) code{white-space:nowrap!important}
@media(max-width:599px){.markdown :is(th,td){padding:6px 8px!important}.markdown td:last-child code{white-space:normal!important}}
.property-heading .copy-link-trailing{position:absolute}
.response-card .scalar-card-header-tabs{flex-wrap:wrap;justify-content:flex-end;row-gap:2px}
.response-card .scalar-card-header-title{flex:1 0 100%;overflow:visible}
.response-card .tab-list{flex-wrap:wrap;overflow:visible}
.scalar-card pre code{font-size:12px!important}
`
