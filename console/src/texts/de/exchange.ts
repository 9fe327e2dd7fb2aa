import type { exchange as english } from '../en/exchange.ts'

export const exchange: typeof english = {
  copy: {
    copy: 'Kopieren',
    notAllowed: 'Nicht kopiert: Der Browser erlaubt es nicht',
    pageJson: 'Diese Seite als JSON',
    pageCsv: 'Diese Seite als CSV',
    copied: (rows: number, format: string) =>
      `${rows} ${rows === 1 ? 'Zeile' : 'Zeilen'} als ${format} kopiert`,
  },
  export: {
    export: 'Exportieren',
    cancel: 'Export abbrechen',
    page: 'Diese Seite',
    pageCsv: 'Seite als CSV',
    pageNdjson: 'Seite als NDJSON',
    allCsv: 'Alle als CSV',
    allNdjson: 'Alle als NDJSON',
    all: (total: string) => `Alle ${total}`,
    title: (what: string) => (what === '' ? 'Exportieren' : `${what} exportieren`),
    allOf: (total: string, plural: string) => `Alle ${total} ${plural}`,
    progress: 'Fortschritt des Exports',
    running: (records: string, bytes: string) => `${records} Datensätze, ${bytes}`,
    exported: (count: string, plural: string) => `${count} ${plural} exportiert.`,
    truncated: 'Der Export ist unvollständig: Die Verbindung endete zu früh. Starten Sie ihn erneut.',
    failed: 'Der Export ist fehlgeschlagen.',
    tooLarge:
      'Der Export ist größer als 512 MB; dieser Browser kann ihn nicht speichern. Verwenden Sie curl.',
  },
}
