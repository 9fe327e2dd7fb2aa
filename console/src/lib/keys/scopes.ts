/** What each scope allows, in the order in which the service lists them. */
export const scopes = [
  { name: 'product:read', label: 'Read products', text: 'Lists, records and exports.' },
  { name: 'product:write', label: 'Change products', text: 'Create, change, delete.' },
  { name: 'partner:read', label: 'Read partners', text: 'Lists, records and exports.' },
  { name: 'partner:create', label: 'Create partners', text: 'Without partner:read it cannot read them.' },
  { name: 'partner:write', label: 'Change partners', text: 'Create, change, delete.' },
  { name: 'company:read', label: 'Read companies', text: 'Lists, records and exports.' },
  { name: 'company:write', label: 'Change companies', text: 'Create, change, delete.' },
  {
    name: 'account:manage',
    label: 'Manage the account',
    text: 'Create, rotate and revoke any key; read the audit log, the request log and usage.',
  },
] as const
