/** Of the reference: two columns from 900 px, one below. Every colour has a contrast of at least 4.5 : 1. Sections out of view are laid out when they are reached. */
export const referenceStyle = `:root{color-scheme:light dark;--bg:#fff;--soft:#f4f4f6;--line:#d5d7de;--text:#1b1b1f;--dim:#54565f;--link:#0b57d0;--bad:#a3161a}
@media(prefers-color-scheme:dark){:root{--bg:#17171a;--soft:#232328;--line:#3a3b42;--text:#e6e6ea;--dim:#b0b2bc;--link:#8ab4f8;--bad:#ff9a96}}
*{box-sizing:border-box}html{scroll-padding-top:1rem}
body{margin:0;font:16px/1.5 system-ui,sans-serif;color:var(--text);background:var(--bg)}
a{color:var(--link)}h1{font-size:1.7rem}h2{font-size:1.3rem;margin-top:3rem;padding-top:1rem;border-top:1px solid var(--line)}h3{font-size:1.1rem;margin-top:2.5rem}h4{font-size:1rem;margin:1.5rem 0 .5rem}
code,pre,textarea{font:14px/1.5 ui-monospace,monospace}code{overflow-wrap:anywhere}td:first-child code,th{overflow-wrap:normal}
pre{margin:.5rem 0;padding:.8rem;overflow-x:auto;background:var(--soft);border-radius:6px}small{color:var(--dim);font-size:.85rem}
main{min-width:0;max-width:56rem;padding:1rem 1rem 6rem}nav{padding:1rem;font-size:.9rem}nav ul{list-style:none;margin:0 0 1rem;padding:0}nav li a{display:block;padding:.2rem 0;text-decoration:none}nav li a:hover{text-decoration:underline}
.table{overflow-x:auto}table{border-collapse:collapse;width:100%}td,th{padding:.35rem .8rem .35rem 0;vertical-align:top;text-align:left;border-top:1px solid var(--line)}td p{margin:0}
.path{display:flex;flex-wrap:wrap;gap:.6rem;font-weight:600}summary{cursor:pointer;padding:.25rem 0;font-weight:600}
form{display:grid;gap:.7rem;padding:1rem;margin:.5rem 0;border:1px solid var(--line);border-radius:6px}label{display:grid;gap:.2rem;font-size:.9rem;font-weight:600}
input,textarea,button{padding:.45rem .6rem;border:1px solid var(--dim);border-radius:5px;font-size:.9rem;color:var(--text);background:var(--bg)}button{font-weight:600;justify-self:start;cursor:pointer}.bar{display:flex;flex-wrap:wrap;gap:.6rem}.fault{color:var(--bad)}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
@media(min-width:900px){body{display:grid;grid-template-columns:19rem minmax(0,1fr)}nav{position:sticky;top:0;height:100vh;overflow-y:auto;border-right:1px solid var(--line)}main{padding:1rem 2.5rem 6rem}}
@media(max-width:899px){nav{max-height:40vh;overflow-y:auto;border-bottom:1px solid var(--line)}}
@media(max-width:599px){.table thead{display:none}.table tr{display:block;padding:.4rem 0;border-top:1px solid var(--line)}.table td{display:inline;border:0}.table td:last-child{display:block}}
section{content-visibility:auto;contain-intrinsic-size:auto 60rem}
@media print{nav,.try{display:none}section{content-visibility:visible}}`
