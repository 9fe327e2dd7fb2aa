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
          {
            text: 'What is Quartermaster?',
            file: startPage,
            words: 'introduction overview getting started install demo quick start tutorial what is this',
          },
          {
            text: 'First request',
            file: 'docs/guides/first-request.md',
            words: 'getting started begin quick start tutorial hello world example first steps',
          },
          {
            text: 'The console',
            file: 'docs/console.md',
            words:
              'web interface admin panel user interface UI dashboard browse data log in sign in audit log of keys: who changed a key usage screenshots',
          },
          {
            text: 'First sync in Python',
            file: 'docs/guides/python.md',
            words: 'tutorial Python script example SQLite copy urllib requests pandas',
          },
          {
            text: 'Compare',
            file: 'docs/compare.md',
            words:
              'alternatives PostgREST Supabase Directus Hasura Odoo API versus better build it yourself why choose',
          },
          {
            text: 'What it does not do',
            file: 'docs/scope.md',
            words: 'limitations missing features not supported out of scope orders invoices',
          },
          { text: 'All guides', file: 'docs/guides/README.md', words: 'tutorials examples how-to samples' },
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
          {
            text: 'Which ids and keys?',
            file: 'docs/guides/ids-and-keys.md',
            words:
              'external id foreign key mapping table SKU article number own identifier primary key reference natural key',
          },
          {
            text: 'Both ways with an ERP',
            file: 'docs/guides/erp-sync.md',
            words:
              'two-way two way bidirectional sync synchronisation integration echo endless loop conflict push pull',
          },
        ],
      },
      {
        text: 'From your system',
        pages: [
          {
            text: 'Odoo connector',
            file: 'docs/guides/odoo-connector.md',
            words:
              'Odoo connector bridge synchronise continuously quartermaster-odoo polling mapping res.partner product.product stock',
          },
          {
            text: 'Odoo, by a program',
            file: 'docs/guides/from-odoo.md',
            words: 'Odoo OpenERP XML-RPC JSON-RPC connector import migrate product.product default_code',
          },
          {
            text: 'ERPNext',
            file: 'docs/guides/from-erpnext.md',
            words: 'ERPNext Frappe connector import migrate item code doctype',
          },
          {
            text: 'Business Central',
            file: 'docs/guides/from-business-central.md',
            words: 'Microsoft Dynamics 365 BC NAV Navision connector import migrate GUID OData',
          },
          {
            text: 'A CSV file',
            file: 'docs/guides/from-csv.md',
            words:
              'spreadsheet Excel XLSX semicolon delimiter columns header upload bulk import file decimal comma',
          },
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
        text: 'Read',
        pages: [
          {
            text: 'Keep a copy in step',
            file: 'docs/guides/keep-a-copy.md',
            words:
              'change feed poll polling updates since last sync delta deleted deletions find out what was deleted replicate cursor long poll server-sent events SSE stream real time CDC change data capture keep copy in sync download everything all products full export bulk initial load resume interrupted crash restart large data warehouse BI modified since updated after timestamp write_date nightly refresh not modified 304 cache ETag conditional request',
          },
          {
            text: 'Recipes',
            file: 'docs/guides/recipes.md',
            words:
              'Power BI Power Query Excel pandas DuckDB report reporting analytics low stock count total SKU price list changes diff nightly CSV cron cookbook how to examples',
          },
          {
            text: 'Receiving webhooks',
            file: 'docs/guides/webhooks.md',
            words: 'callback push notification event HMAC signature verify secret endpoint receive',
          },
        ],
      },
      {
        text: 'Write',
        pages: [
          {
            text: 'Write records',
            file: 'docs/guides/writing-records.md',
            words:
              'create update edit modify delete remove upsert insert patch put optimistic locking concurrency If-Match ETag lost update create customer contact supplier avoid duplicate records twice retry safely exactly once Idempotency-Key idempotent POST',
          },
        ],
      },
      {
        text: 'Every client',
        pages: [
          {
            text: 'TypeScript client',
            file: 'client/README.md',
            words: 'SDK library package npm install JavaScript TypeScript Node wrapper typed',
          },
          {
            text: 'Python client',
            file: 'clients/python/README.md',
            words: 'Python SDK library package pip install wheel PyPI',
          },
          {
            text: 'Pages in a browser',
            file: 'docs/guides/browsers.md',
            words:
              'CORS cross-origin Access-Control-Allow-Origin frontend JavaScript fetch React single-page app browser error blocked',
          },
          {
            text: 'Errors and limits',
            file: 'docs/guides/errors-and-limits.md',
            words:
              'error handling exceptions status codes retry backoff 429 too many requests 503 unavailable rate limit throttling Retry-After timeout',
          },
        ],
      },
    ],
  },
  {
    text: 'Reference',
    summary: 'Every endpoint, operator, error, limit and command.',
    hasOwnHost: true,
    sections: [
      {
        pages: [
          {
            text: 'API overview',
            file: 'docs/api.md',
            words:
              'endpoints REST HTTP OpenAPI Swagger authentication bearer token authorization scopes generated client codegen API versions deprecation',
          },
        ],
      },
      {
        text: 'Read',
        pages: [
          {
            text: 'Records',
            file: 'docs/reference/records.md',
            words:
              'resources product partner company schema columns data model types decimals timestamps get one record by id',
          },
          {
            text: 'Lists',
            file: 'docs/reference/lists.md',
            words:
              'pagination pages paging limit offset page size fields sort order total count select QUERY method',
          },
          {
            text: 'Summaries',
            file: 'docs/reference/summary.md',
            words:
              'aggregate aggregation sum total count average minimum maximum group by pivot report dashboard statistics analytics',
          },
          {
            text: 'Filter language',
            file: 'docs/filter-language.md',
            words:
              'query search where condition operators and or not brackets parentheses like contains substring text syntax greater less between in list null date',
          },
        ],
      },
      {
        text: 'Write, follow, manage',
        pages: [
          {
            text: 'Writes',
            file: 'docs/reference/writes.md',
            words:
              'POST PATCH DELETE create update delete merge patch If-Match adjust stock quantity increment upsert by key Idempotency-Key',
          },
          {
            text: 'Batches',
            file: 'docs/reference/batches.md',
            words: 'bulk upsert NDJSON CSV many records rejected rows mode update insert',
          },
          {
            text: 'Export',
            file: 'docs/reference/export.md',
            words: 'download all records NDJSON CSV Excel spreadsheet formula injection snapshot',
          },
          {
            text: 'Change feed',
            file: 'docs/reference/changes.md',
            words: 'cursor since wait long poll stream SSE event deleted',
          },
          {
            text: 'Webhook endpoints',
            file: 'docs/reference/webhooks.md',
            words: 'register callback challenge activate pause replay deliveries signature headers',
          },
          {
            text: 'Your own fields',
            file: 'docs/reference/fields.md',
            words: 'custom fields own fields declare add column extend schema unique key attribute',
          },
          {
            text: 'Keys, audit and usage',
            file: 'docs/reference/account.md',
            words:
              'manage API keys rotate revoke expire audit log request log usage statistics latency allowed origins administrator',
          },
        ],
      },
      {
        text: 'Look up',
        pages: [
          {
            text: 'Headers, caching and rate limits',
            file: 'docs/reference/http.md',
            words: 'ETag If-None-Match 304 cache RateLimit concurrency CORS headers Link Server-Timing',
          },
          {
            text: 'Errors',
            file: 'docs/reference/errors.md',
            words: 'error codes status codes problem json 400 401 403 404 409 412 429 500 503',
          },
          { text: 'Limits', file: 'docs/operating/limits.md', words: 'maximum size quota' },
          {
            text: 'Commands',
            file: 'docs/reference/commands.md',
            words: 'command line CLI options flags quartermaster arguments help terminal',
          },
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
          {
            text: 'All chapters',
            file: 'docs/operating/README.md',
            words: 'administration operations manual runbook self-host hosting deploy',
          },
          {
            text: 'Decide',
            file: 'docs/operating/decide.md',
            words:
              'cost price licence license requirements sizing availability SLA uptime support how many servers effort evaluate',
          },
          {
            text: 'Install',
            file: 'docs/operating/install.md',
            words:
              'installation set up system requirements prerequisites Node PostgreSQL version database roles migrate first account deploy',
          },
          {
            text: 'Configure',
            file: 'docs/operating/configure.md',
            words: 'configuration settings options environment variables env secrets .env flags',
          },
          {
            text: 'TLS and hosts',
            file: 'docs/operating/tls-and-hosts.md',
            words: 'HTTPS SSL certificate encryption domain DNS subdomain host name wildcard proxy headers',
          },
          {
            text: 'More than one process',
            file: 'docs/operating/processes.md',
            words:
              'workers cores CPU cluster systemd service restart rolling health check readiness shutdown several machines load balancer',
          },
          {
            text: 'Container image',
            file: 'docs/operating/container.md',
            words: 'Docker Podman OCI image build registry',
          },
          {
            text: 'Deployment files',
            file: 'deploy/README.md',
            words:
              'Kubernetes k8s Helm manifests Docker Compose nginx HAProxy reverse proxy load balancer systemd unit Grafana dashboard Prometheus',
          },
        ],
      },
      {
        text: 'Database',
        pages: [
          {
            text: 'Servers and poolers',
            file: 'docs/operating/database-servers.md',
            words: 'PostgreSQL standby read replica primary failover connection pool pooler PgBouncer',
          },
          {
            text: 'A Patroni cluster',
            file: 'docs/operating/patroni.md',
            words: 'high availability HA failover cluster switchover etcd standby outage',
          },
          {
            text: 'Scale',
            file: 'docs/scale.md',
            words:
              'sharding shard Citus several database servers horizontal scaling distribute millions of accounts large growth',
          },
        ],
      },
      {
        text: 'Accounts',
        pages: [
          {
            text: 'Accounts, keys and quotas',
            file: 'docs/operating/accounts.md',
            words:
              'tenant customer create account API key token scopes permissions rotate revoke leaked suspend quota rate limit audit',
          },
          {
            text: 'Provisioning and operator API',
            file: 'docs/operating/operator-api.md',
            words:
              'provision accounts automation Terraform apply JSON delete account tombstone GDPR offboarding exit code operator API',
          },
          {
            text: 'Import and export',
            file: 'docs/operating/import-and-export.md',
            words: 'load data bulk import CSV NDJSON command line dump',
          },
          {
            text: 'Webhooks',
            file: 'docs/operating/webhooks.md',
            words: 'outgoing allowed addresses private network SSRF egress delivery secret',
          },
        ],
      },
      {
        text: 'Run',
        pages: [
          {
            text: 'Watch',
            file: 'docs/operating/watch.md',
            words:
              'monitoring observability metrics Prometheus Grafana OpenTelemetry traces tracing logs logging alerts alerting',
          },
          {
            text: 'Incidents',
            file: 'docs/operating/incidents.md',
            words:
              'troubleshooting problem slow error emergency outage runbook down alert what to do debug performance',
          },
          {
            text: 'Check an installation',
            file: 'docs/operating/doctor.md',
            words: 'diagnose self-test verify installation consistency repair health',
          },
          {
            text: 'Capacity',
            file: 'docs/operating/capacity.md',
            words:
              'sizing hardware memory RAM disk space CPU storage throughput requests per second performance estimate',
          },
          {
            text: 'Concurrency and overload',
            file: 'docs/operating/overload.md',
            words: 'load shedding backpressure queue concurrency fair noisy neighbour 503',
          },
          {
            text: 'Upgrade',
            file: 'docs/operating/upgrade.md',
            words: 'update new version release zero downtime rolling migration rollback downgrade',
          },
          {
            text: 'Back up and restore',
            file: 'docs/operating/backup.md',
            words:
              'backup dump pg_dump pgBackRest snapshot archive save database recover recovery undelete deleted account point in time disaster restore',
          },
        ],
      },
      {
        text: 'Security',
        pages: [
          {
            text: 'Security',
            file: 'docs/security.md',
            words:
              'secure OWASP threat model vulnerabilities isolation encryption compliance audit penetration',
          },
        ],
      },
    ],
  },
  {
    text: 'Understand',
    summary: 'How it is built, what was measured and proved, and why it was decided.',
    sections: [
      {
        pages: [
          {
            text: 'Architecture',
            file: 'ARCHITECTURE.md',
            words: 'design internals how it works source code tally',
          },
          {
            text: 'Consistency',
            file: 'docs/consistency.md',
            words:
              'guarantees snapshot isolation read your writes stale ordering exactly once durability ACID',
          },
          {
            text: 'Proof',
            file: 'docs/proof.md',
            words: 'measured figures evidence results claims tested numbers',
          },
          {
            text: 'A cluster with faults',
            file: 'docs/chaos/README.md',
            words: 'chaos engineering fault injection data loss proof Jepsen reliability',
          },
          { text: 'Verification', file: 'verification/README.md', words: 'proofs correctness checks tests' },
          {
            text: 'Benchmarks',
            file: 'bench/README.md',
            words: 'performance benchmark comparison speed latency throughput',
          },
        ],
      },
      {
        text: 'Decisions',
        pages: [
          {
            text: 'Decisions in an hour',
            file: 'docs/adr/README.md',
            words: 'ADR decision records why rationale',
          },
        ],
      },
    ],
  },
  {
    text: 'Contribute',
    summary: 'Change the code, run its checks, release it.',
    sections: [
      {
        pages: [
          {
            text: 'Contributing',
            file: 'CONTRIBUTING.md',
            words: 'develop development build pull request code style tests',
          },
          {
            text: 'Coverage of the tests',
            file: 'acceptance/COVERAGE.md',
            words: 'specification requirements',
          },
          {
            text: 'Report a vulnerability',
            file: 'SECURITY.md',
            words: 'report a vulnerability security issue disclosure responsible contact CVE',
          },
          { text: 'Changelog', file: 'CHANGELOG.md', words: 'release notes what is new versions history' },
        ],
      },
    ],
  },
]
