export const manage = {
  signIn: {
    paste: 'Paste an API key.',
    rejected:
      'The service does not accept this key on this host. Check that you pasted all of it, and that the key belongs to this account.',
    use: 'Use an API key of this account. Your operator or an account administrator creates one.',
    key: 'API key',
    title: (account: string) => `Sign in to ${account}`,
    note: (host: string) =>
      `The key stays in this tab until you close it or sign out, and is sent only to ${host}.`,
  },
}
