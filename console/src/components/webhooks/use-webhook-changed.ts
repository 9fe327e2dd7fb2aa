import { useQueryClient } from '@tanstack/react-query'

/** Loads the lists of webhooks and deliveries again, and the open webhook. */
export function useWebhookChanged(): () => Promise<void> {
  const queryClient = useQueryClient()
  return async () => {
    await Promise.all([
      queryClient.invalidateQueries({ queryKey: ['list', 'webhook'] }),
      queryClient.invalidateQueries({ queryKey: ['list', 'delivery'] }),
      queryClient.invalidateQueries({ queryKey: ['record', 'webhook'] }),
    ])
  }
}
