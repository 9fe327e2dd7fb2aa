import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'

/** Runs a command of the system and returns its stdout. */
export function run(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Runs a command whose failure does not matter, for example while everything is removed. */
export function attempt(program: string, ...args: readonly string[]): string {
  return spawnSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).stdout ?? ''
}

const prefix = 'qmc'

/**
 * A bridge with a private subnet, and network namespaces that are connected to it. The machine itself has the first address, so that
 * the supervisor can reach everything. Names have a random suffix: two runs on one machine do not collide.
 */
export class Network {
  readonly #subnet: string
  readonly #bridge: string
  readonly #suffix: string
  #namespaces = 0

  private constructor(subnet: string) {
    this.#subnet = subnet
    this.#suffix = randomBytes(2).toString('hex')
    this.#bridge = bridgeOf(this.#suffix)
  }

  static create(): Network {
    const network = new Network(freeSubnet())
    try {
      run('ip', 'link', 'add', network.#bridge, 'type', 'bridge')
      run('ip', 'addr', 'add', `${network.host}/24`, 'dev', network.#bridge)
      run('ip', 'link', 'set', network.#bridge, 'up')
      // A machine with containers may reject what passes a bridge.
      attempt('iptables', '-w', '-I', ...forwarding(network.#bridge))
    } catch (error) {
      network.remove()
      throw error
    }
    return network
  }

  get suffix(): string {
    return this.#suffix
  }

  /** The network in CIDR notation. */
  get range(): string {
    return `${this.#subnet}.0/24`
  }

  /** The address of the machine itself. */
  get host(): string {
    return `${this.#subnet}.1`
  }

  /** Adds a namespace with one interface, and returns it. */
  add(name: string): Namespace {
    const address = `${this.#subnet}.${11 + this.#namespaces}`
    const namespace = `${this.#bridge}-${name}`
    const link = `${prefix}${this.#suffix}${name}`
    this.#namespaces += 1
    run('ip', 'netns', 'add', namespace)
    run('ip', 'link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace)
    run('ip', 'link', 'set', link, 'master', this.#bridge, 'up')
    const added = new Namespace(namespace, address, link)
    added.run('ip', 'addr', 'add', `${address}/24`, 'dev', 'eth0')
    added.run('ip', 'link', 'set', 'eth0', 'up')
    added.run('ip', 'link', 'set', 'lo', 'up')
    return added
  }

  remove(): void {
    removeNetwork(this.#suffix)
  }
}

/** Kills every process in the namespaces, and removes them. Synchronous, so that it also works while the process exits. */
export function removeNetwork(suffix: string): void {
  const bridge = bridgeOf(suffix)
  const names = attempt('ip', 'netns', 'list')
    .split('\n')
    .map((line) => line.split(' ', 1)[0] ?? '')
  for (const name of names) if (name.startsWith(`${bridge}-`)) removeNamespace(name)
  attempt('ip', 'link', 'del', bridge)
  attempt('iptables', '-w', '-D', ...forwarding(bridge))
}

function forwarding(bridge: string): string[] {
  return ['FORWARD', '-i', bridge, '-o', bridge, '-j', 'ACCEPT']
}

function bridgeOf(suffix: string): string {
  return `${prefix}${suffix}b`
}

export class Namespace {
  readonly name: string
  readonly address: string
  /** The end of its cable at the bridge. */
  readonly link: string

  constructor(name: string, address: string, link: string) {
    this.name = name
    this.address = address
    this.link = link
  }

  /** Runs a short command in the namespace. */
  run(program: string, ...args: readonly string[]): string {
    return run('ip', 'netns', 'exec', this.name, program, ...args)
  }

  /** The processes in the namespace. */
  get pids(): number[] {
    return pidsOf(this.name)
  }

  /** Packets from and to these addresses vanish: no reset, no ICMP error. Without addresses, all packets. */
  drop(addresses?: readonly string[]): void {
    const rules =
      addresses === undefined
        ? [
            ['INPUT', '!', '-i', 'lo'],
            ['OUTPUT', '!', '-o', 'lo'],
          ]
        : addresses.flatMap((address) => [
            ['INPUT', '-s', address],
            ['OUTPUT', '-d', address],
          ])
    for (const [chain = '', ...match] of rules)
      this.run('iptables', '-w', '-A', chain, ...match, '-j', 'DROP')
  }

  /** Ends every `drop`. */
  heal(): void {
    this.run('iptables', '-w', '-F')
  }

  /** Limits what the namespace receives, in kilobits per second. */
  limitRate(kilobits: number): void {
    run('tc', 'qdisc', 'replace', 'dev', this.link, ...rateLimit(kilobits))
  }

  unlimitRate(): void {
    attempt('tc', 'qdisc', 'del', 'dev', this.link, 'root')
  }
}

/** The arguments of `tc qdisc add dev NAME`. */
export function rateLimit(kilobits: number): string[] {
  return `root tbf rate ${kilobits}kbit burst 16kb latency 400ms`.split(' ')
}

function pidsOf(namespace: string): number[] {
  return attempt('ip', 'netns', 'pids', namespace).split('\n').filter(Boolean).map(Number)
}

function removeNamespace(namespace: string): void {
  // A process may be forking while it is killed.
  for (let round = 0; round < 20; round++) {
    const pids = pidsOf(namespace)
    if (pids.length === 0) break
    for (const pid of pids) kill(pid, 'SIGKILL')
    attempt('sleep', '0.1')
  }
  attempt('ip', 'netns', 'del', namespace)
}

/** Sends a signal to a process that may have ended. */
export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended.
  }
}

/** The first three numbers of a /24 that overlaps no address or route of this machine. */
function freeSubnet(): string {
  const used = `${run('ip', '-4', 'route', 'show', 'table', 'all')}\n${run('ip', '-4', '-o', 'addr')}`
  for (let tries = 0; tries < 200; tries++) {
    const second = randomInt(64, 127)
    const candidate = `10.${second}.${randomInt(1, 255)}`
    // A route to 10.0.0.0/8 or to a part of this network may be a real one: keep away from it.
    if (!new RegExp(`\\b10\\.${second}\\.|\\b10\\.0\\.0\\.0/8`).test(used)) return candidate
  }
  throw new Error('no private subnet is free')
}
