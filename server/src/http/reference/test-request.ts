/**
 * The script of the reference. It sends nothing before a person presses Send, and then only what is in the form and the key:
 * that of the console's session in this tab, or one that is pasted, which it does not store. The service is compiled without
 * the types of browsers, so this is text; `npm run verify -- console --only reference` runs it.
 */
export const testRequest = String.raw`'use strict'
const storedKey = () => sessionStorage.getItem('quartermaster.key') ?? ''
const element = (tag, properties = {}, ...children) => {
  const one = Object.assign(document.createElement(tag), properties)
  one.append(...children)
  return one
}
const maxShown = 200000
for (const details of document.querySelectorAll('.try')) {
  details.addEventListener('toggle', () => build(details), { once: true })
}
function build(details) {
  const section = details.parentElement
  const method = section.dataset.method
  const inputs = [...section.querySelectorAll('tr[data-name]')].map((row) => {
    const input = element('input', { required: 'required' in row.dataset, autocomplete: 'off', spellcheck: false })
    return { name: row.dataset.name, place: row.dataset.in, input }
  })
  const example = section.querySelector('pre[data-body]')
  const body = example === null ? undefined : element('textarea', { rows: 6, spellcheck: false })
  const key = 'public' in section.dataset ? undefined : element('input', { type: 'password', autocomplete: 'off', value: storedKey() })
  const shown = element('pre', { tabIndex: 0 })
  const status = element('p')
  status.setAttribute('role', 'status')
  const answer = element('pre', { tabIndex: 0, hidden: true })
  const form = element('form', {},
    ...(key === undefined ? [] : [element('label', {}, storedKey() === '' ? 'API key' : "API key, of the console's session", key)]),
    ...inputs.map(({ name, place, input }) => element('label', {}, name + (input.required ? ', required' : '') + ' (' + place + ')', input)),
    ...(body === undefined ? [] : [element('label', {}, 'Body, ' + example.dataset.body, body)]))
  if (body !== undefined) {
    const fill = element('button', { type: 'button' }, 'Use the example')
    fill.addEventListener('click', () => { body.value = example.textContent; show() })
    form.append(fill)
  }
  form.append(element('div', {}, 'Sends:', shown), element('button', {}, 'Send ' + method), status, answer)
  const request = () => {
    let path = section.dataset.path
    const query = []
    const headers = {}
    for (const { name, place, input } of inputs) {
      if (input.value === '') continue
      if (place === 'path') path = path.replace('{' + name + '}', encodeURIComponent(input.value))
      else if (place === 'query') query.push(encodeURIComponent(name) + '=' + encodeURIComponent(input.value))
      else headers[name] = input.value
    }
    if (body !== undefined && body.value !== '') Object.assign(headers, { 'Content-Type': example.dataset.body })
    return { url: path + (query.length === 0 ? '' : '?' + query.join('&')), headers, body: body === undefined || body.value === '' ? undefined : body.value }
  }
  const show = () => {
    const { url, headers, body: text } = request()
    const lines = Object.entries(headers).map(([name, value]) => name + ': ' + value)
    if (key !== undefined && key.value !== '') lines.unshift('Authorization: Bearer …')
    shown.textContent = [method + ' ' + url, ...lines].join('\n') + (text === undefined ? '' : '\n\n' + text)
  }
  form.addEventListener('input', show)
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const { url, headers, body: text } = request()
    if (key !== undefined && key.value !== '') headers.Authorization = 'Bearer ' + key.value
    status.className = ''
    status.textContent = 'Waiting for the response …'
    try {
      const started = performance.now()
      const response = await fetch(url, { method, headers, body: text, credentials: 'omit', redirect: 'error', cache: 'no-store' })
      const received = await response.text()
      status.textContent = response.status + ' ' + response.statusText + ', ' + Math.round(performance.now() - started) + ' ms'
      if (!response.ok) status.className = 'fault'
      const lines = [...response.headers].map(([name, value]) => name + ': ' + value)
      answer.textContent = lines.join('\n') + '\n\n' + pretty(received).slice(0, maxShown)
      answer.hidden = false
    } catch (error) {
      status.className = 'fault'
      status.textContent = 'There was no response: ' + error.message
      answer.hidden = true
    }
  })
  details.append(form)
  show()
}
// As the service wrote it, if parsing and printing would change a number.
function pretty(text) {
  try {
    const parsed = JSON.parse(text)
    return JSON.stringify(parsed) === text ? JSON.stringify(parsed, null, 2) : text
  } catch { return text }
}
`
