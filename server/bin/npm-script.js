/** Whether a script of npm is this command and nothing else: `'quartermaster' serve`, `PORT=80 node …/quartermaster.js serve`. */
export function isOnlyQuartermaster(script) {
  if (/[&|;<>()`$\n]/.test(script)) return false
  const words = script.split(' ').filter((word) => word !== '' && word !== 'node')
  const command = words.find((word) => !word.includes('=')) ?? ''
  return /^quartermaster(?:\.js)?$/.test(command.replaceAll("'", '').split('/').at(-1) ?? '')
}
