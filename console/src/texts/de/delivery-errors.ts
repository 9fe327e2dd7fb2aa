import type { deliveryErrors as english } from '../en/delivery-errors.ts'

/** Every code of the service: `texts.test.ts` finds one that is missing. */
export const deliveryErrors: typeof english = {
  status: {
    cause: 'Der Empfänger antwortete mit einem Status außerhalb von 2xx.',
    remedy: 'Korrigieren Sie den Empfänger. Die Nachrichten werden fünf Tage lang erneut gesendet.',
  },
  challenge: {
    cause: 'Der Empfänger gab die Challenge nicht zurück; der Webhook ist nicht geprüft.',
    remedy: 'Geben Sie die Challenge aus der Anfrage zurück, und aktivieren Sie dann den Webhook.',
  },
  timeout: {
    cause: 'Der Empfänger antwortete nicht rechtzeitig.',
    remedy: 'Antworten Sie zuerst, und verarbeiten Sie die Nachricht danach.',
  },
  certificate_invalid: {
    cause: 'Das TLS-Zertifikat des Empfängers wurde nicht angenommen.',
    remedy: 'Installieren Sie ein gültiges Zertifikat mit vollständiger Kette.',
  },
  address_forbidden: {
    cause: 'Der Hostname führt zu einer Adresse, die nicht im öffentlichen Internet liegt.',
    remedy: 'Verwenden Sie eine öffentliche Adresse, oder bitten Sie Ihren Betreiber, das Netz zu erlauben.',
  },
  secret: {
    cause: 'Es wurde nichts gesendet: Der Betreiber hat den Hauptschlüssel des Secrets entfernt.',
    remedy:
      'Erneuern Sie das Secret, und geben Sie es dem Empfänger, oder bitten Sie Ihren Betreiber, den Hauptschlüssel wiederherzustellen.',
  },
  url_forbidden: {
    cause: 'Der Dienst sendet nicht an diese URL, zum Beispiel ohne https.',
    remedy: 'Ändern Sie die URL des Webhooks.',
  },
  aborted: {
    cause: 'Der Dienst wurde beendet, während er die Nachricht sendete.',
    remedy: 'Nichts: Die Nachricht wird erneut gesendet.',
  },
  connection_failed: {
    cause: 'Die Verbindung kam nicht zustande oder brach ab, bevor die Antwort vollständig war.',
    remedy: 'Prüfen Sie, ob der Server läuft und erreichbar ist. Die Zustellung wird wiederholt.',
  },
  host_unknown: {
    cause: 'Der Hostname lässt sich nicht auflösen.',
    remedy: 'Korrigieren Sie die URL des Webhooks.',
  },
}
