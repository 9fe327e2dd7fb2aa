import type { manage as english } from '../en/manage.ts'

export const manage: typeof english = {
  signIn: {
    paste: 'Fügen Sie einen API-Schlüssel ein.',
    rejected:
      'Der Dienst nimmt diesen Schlüssel auf diesem Host nicht an. Prüfen Sie, ob Sie ihn ganz eingefügt haben und ob er zu diesem Konto gehört.',
    use: 'Verwenden Sie einen API-Schlüssel dieses Kontos. Ihr Betreiber oder ein Administrator legt ihn an.',
    key: 'API-Schlüssel',
    title: (account: string) => `Bei ${account} anmelden`,
    note: (host: string) =>
      `Der Schlüssel bleibt in diesem Tab, bis Sie ihn schließen oder sich abmelden, und wird nur an ${host} gesendet.`,
  },
}
