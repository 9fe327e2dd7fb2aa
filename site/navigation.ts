/** A page of the site: a Markdown file of this repository. */
export interface NavigationPage {
  readonly text: string
  /** Its path in the repository. */
  readonly file: string
  /** What people search for who do not know our words. Only the search reads it. */
  readonly words?: string
}

export interface Section {
  /** None: its pages are at the top. */
  readonly text?: string
  readonly pages: readonly NavigationPage[]
}

/** What one kind of reader needs, in the order in which they need it. */
export interface Audience {
  readonly text: string
  /** For the start page. */
  readonly summary: string
  /** Whether the samples of its pages name the host of the account, if a deployment serves the site. */
  readonly hasOwnHost?: boolean
  readonly sections: readonly Section[]
}

/** The file that is the start page of the site. */
export const startPage = 'README.md'

/**
 * The navigation of the site. Every Markdown file of docs/ is in it exactly once; the decision records are listed by themselves, below
 * their index. `architecture/site.test.ts` fails for a file without an entry: choose the audience, and add a line.
 */
export const navigation: readonly Audience[] = [
  {
    text: 'Start',
    summary: 'What Quartermaster is, the first request, and the console.',
    sections: [
      {
        pages: [
          { text: 'What is Quartermaster?', file: startPage },
          { text: 'First request', file: 'docs/guides/first-request.md' },
          { text: 'The console', file: 'docs/console.md' },
          { text: 'All guides', file: 'docs/guides/README.md' },
        ],
      },
    ],
  },
  {
    text: 'Connect an ERP',
    summary: 'Send products, partners and companies from your ERP, and take changes back.',
    hasOwnHost: true,
    sections: [
      {
        pages: [
          { text: 'Which ids and keys?', file: 'docs/guides/ids-and-keys.md' },
          { text: 'Both ways with an ERP', file: 'docs/guides/erp-sync.md' },
        ],
      },
      {
        text: 'From your system',
        pages: [
          { text: 'Odoo', file: 'docs/guides/from-odoo.md' },
          { text: 'ERPNext', file: 'docs/guides/from-erpnext.md' },
          { text: 'Business Central', file: 'docs/guides/from-business-central.md' },
          { text: 'A CSV file', file: 'docs/guides/from-csv.md' },
        ],
      },
    ],
  },
  {
    text: 'Use the API',
    summary: 'Keep a copy in step, write records, receive webhooks, handle errors.',
    hasOwnHost: true,
    sections: [
      {
        text: 'Keep a copy in step',
        pages: [
          { text: 'Change feed', file: 'docs/guides/changes.md' },
          { text: 'Receiving webhooks', file: 'docs/guides/webhooks.md' },
          { text: 'A million products', file: 'docs/guides/warehouse.md' },
          { text: 'Incremental sync', file: 'docs/guides/incremental-sync.md' },
          { text: 'Full sync', file: 'docs/guides/full-sync.md' },
        ],
      },
      {
        text: 'Write',
        pages: [
          { text: 'Writing records', file: 'docs/guides/writing-records.md' },
          { text: 'Creating partners', file: 'docs/guides/creating-partners.md' },
        ],
      },
      {
        text: 'Every client',
        pages: [
          { text: 'TypeScript client', file: 'client/README.md' },
          { text: 'Pages in a browser', file: 'docs/guides/browsers.md' },
          { text: 'Errors and limits', file: 'docs/guides/errors-and-limits.md' },
        ],
      },
    ],
  },
  {
    text: 'Reference',
    summary: 'Every endpoint, operator, error and limit.',
    hasOwnHost: true,
    sections: [
      {
        pages: [
          { text: 'API', file: 'docs/api.md' },
          { text: 'Filter language', file: 'docs/filter-language.md' },
          { text: 'Limits', file: 'docs/operating/limits.md' },
        ],
      },
    ],
  },
  {
    text: 'Operate',
    summary: 'Install, configure, watch, upgrade, back up and restore a deployment.',
    sections: [
      {
        text: 'Install',
        pages: [
          { text: 'Overview', file: 'docs/operating/README.md' },
          { text: 'Install', file: 'docs/operating/install.md' },
          { text: 'Configure', file: 'docs/operating/configure.md' },
          { text: 'TLS and hosts', file: 'docs/operating/tls-and-hosts.md' },
          { text: 'More than one process', file: 'docs/operating/processes.md' },
          { text: 'Container image', file: 'docs/operating/container.md' },
          { text: 'Deployment files', file: 'deploy/README.md' },
        ],
      },
      {
        text: 'Database',
        pages: [
          { text: 'Servers and poolers', file: 'docs/operating/database-servers.md' },
          { text: 'A Patroni cluster', file: 'docs/operating/patroni.md' },
          { text: 'Scale', file: 'docs/scale.md' },
        ],
      },
      {
        text: 'Accounts',
        pages: [
          { text: 'Accounts, keys and quotas', file: 'docs/operating/accounts.md' },
          { text: 'Import and export', file: 'docs/operating/import-and-export.md' },
          { text: 'Webhooks', file: 'docs/operating/webhooks.md' },
        ],
      },
      {
        text: 'Run',
        pages: [
          { text: 'Watch', file: 'docs/operating/watch.md' },
          { text: 'Incidents', file: 'docs/operating/incidents.md' },
          { text: 'Check an installation', file: 'docs/operating/doctor.md' },
          { text: 'Capacity', file: 'docs/operating/capacity.md' },
          { text: 'Concurrency and overload', file: 'docs/operating/overload.md' },
          { text: 'Upgrade', file: 'docs/operating/upgrade.md' },
          { text: 'Back up', file: 'docs/operating/backup.md' },
          { text: 'Restore', file: 'docs/operating/restore.md' },
        ],
      },
      { text: 'Security', pages: [{ text: 'Security', file: 'docs/security.md' }] },
    ],
  },
  {
    text: 'Understand',
    summary: 'How it is built, what was measured and proved, and why it was decided.',
    sections: [
      {
        pages: [
          { text: 'Architecture', file: 'ARCHITECTURE.md' },
          { text: 'A cluster with faults', file: 'docs/chaos/README.md' },
          { text: 'Verification', file: 'verification/README.md' },
          { text: 'Benchmarks', file: 'bench/README.md' },
        ],
      },
      { text: 'Decisions', pages: [{ text: 'Decisions in an hour', file: 'docs/adr/README.md' }] },
    ],
  },
  {
    text: 'Contribute',
    summary: 'Change the code, run its checks, release it.',
    sections: [
      {
        pages: [
          { text: 'Contributing', file: 'CONTRIBUTING.md' },
          { text: 'Coverage of the tests', file: 'acceptance/COVERAGE.md' },
          { text: 'Report a vulnerability', file: 'SECURITY.md' },
          { text: 'Changelog', file: 'CHANGELOG.md' },
        ],
      },
    ],
  },
]
