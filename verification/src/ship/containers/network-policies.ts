import { BlockList } from 'node:net'
import type { Manifest } from './manifest.ts'

interface NetworkPolicy extends Manifest {
  readonly spec: {
    readonly podSelector: { readonly matchLabels: Readonly<Record<string, string>> }
    readonly egress: readonly Rule[]
  }
}

interface Rule {
  /** Without it, every address. */
  readonly to?: readonly {
    readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] }
  }[]
  readonly ports: readonly { readonly port: number; readonly endPort?: number }[]
}

const pod = (component: string) => ({
  'app.kubernetes.io/name': 'quartermaster',
  'app.kubernetes.io/component': component,
})
const server = pod('server')
const database = '10.1.2.3'
const receiver = '203.0.113.7'

/** Connections of pods, and whether they must be possible. */
const connections = [
  { what: 'PostgreSQL', from: server, to: database, port: 5432, allowed: true },
  { what: 'PgBouncer', from: server, to: database, port: 6432, allowed: true },
  { what: 'Redis', from: server, to: database, port: 6379, allowed: true },
  { what: 'the collector', from: server, to: database, port: 4318, allowed: true },
  { what: 'a receiver of webhooks', from: server, to: receiver, port: 443, allowed: true },
  { what: 'a receiver of webhooks on another port', from: server, to: receiver, port: 8443, allowed: true },
  { what: 'a receiver of webhooks with IPv6', from: server, to: '2001:db8::7', port: 443, allowed: true },
  { what: 'a mail server', from: server, to: receiver, port: 25, allowed: false },
  { what: 'a service of the cluster', from: server, to: '10.96.0.1', port: 443, allowed: false },
  { what: 'the metadata of the cloud', from: server, to: '169.254.169.254', port: 443, allowed: false },
  { what: 'a service with IPv6', from: server, to: 'fd00::1', port: 443, allowed: false },
  { what: 'PostgreSQL of the Job', from: pod('migrate'), to: database, port: 5432, allowed: true },
  { what: 'the internet of the Job', from: pod('migrate'), to: receiver, port: 443, allowed: false },
]

/** Connections that the policies wrongly allow or forbid. Policies add up: what one allows is allowed. */
export function egressFaults(manifests: readonly Manifest[]): string[] {
  const policies = manifests.filter((manifest) => isPolicy(manifest))
  return connections
    .filter(({ from, to, port, allowed }) => {
      const rules = policies.filter((policy) => selects(policy, from)).flatMap(({ spec }) => spec.egress)
      return rules.some((rule) => reaches(rule, to, port)) !== allowed
    })
    .map(
      ({ what, to, port, allowed }) => `${what}, ${to} port ${port}, is ${allowed ? 'blocked' : 'allowed'}`,
    )
}

const isPolicy = (manifest: Manifest): manifest is NetworkPolicy => manifest.kind === 'NetworkPolicy'

const selects = ({ spec }: NetworkPolicy, labels: Readonly<Record<string, string>>) =>
  Object.entries(spec.podSelector.matchLabels).every(
    ([name, value]) => labels[name] === value || name === 'app.kubernetes.io/part-of',
  )

const reaches = ({ to, ports }: Rule, address: string, wanted: number) =>
  ports.some(({ port, endPort = port }) => wanted >= port && wanted <= endPort) &&
  (to === undefined ||
    to.some(
      ({ ipBlock }) =>
        ipBlock !== undefined &&
        contains(ipBlock.cidr, address) &&
        !(ipBlock.except ?? []).some((cidr) => contains(cidr, address)),
    ))

function contains(cidr: string, address: string): boolean {
  const [network = '', bits] = cidr.split('/')
  const family = (text: string) => (text.includes(':') ? 'ipv6' : 'ipv4')
  if (family(network) !== family(address)) return false
  const list = new BlockList()
  list.addSubnet(network, Number(bits), family(network))
  return list.check(address, family(address))
}
