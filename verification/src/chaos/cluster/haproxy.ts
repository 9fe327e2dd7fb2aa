import { documented } from '../../../../architecture/documented.ts'

/** The configuration in docs/operating/patroni.md, with the addresses of these nodes. */
export function haproxyConfig(
  servers: readonly { readonly name: string; readonly address: string }[],
): string {
  const lines = documented('patroni-haproxy')
    .split('\n')
    .filter((line) => !line.startsWith('  server '))
  return [
    'global',
    '  maxconn 1000',
    ...lines.filter((line) => line !== ''),
    ...servers.map(({ name, address }) => `  server ${name} ${address}:5432`),
    '',
  ].join('\n')
}
