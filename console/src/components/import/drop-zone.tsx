import { useRef, useState } from 'react'
import { t } from '../../texts/texts.ts'
import { Button } from '../button.tsx'
import { Icon } from '../icon.tsx'

interface DropZoneProps {
  readonly fault: string | undefined
  readonly onFile: (file: File) => void
}

/** A file is dropped or chosen. */
export function DropZone({ fault, onFile }: DropZoneProps) {
  const [isOver, setOver] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button does the same
    <div
      className="drop-zone"
      data-over={isOver ? '' : undefined}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        const [file] = event.dataTransfer.files
        if (file !== undefined) onFile(file)
      }}
    >
      <Icon name="upload" size={22} />
      <h2>{t.import.drop}</h2>
      <p className="dim">{t.import.dropMeaning}</p>
      <input
        ref={input}
        type="file"
        className="visually-hidden"
        aria-label={t.import.file}
        tabIndex={-1}
        accept=".csv,.txt,.tsv,text/csv"
        onChange={(event) => {
          const [file] = event.target.files ?? []
          if (file !== undefined) onFile(file)
          event.target.value = ''
        }}
      />
      <Button size="sm" onClick={() => input.current?.click()}>
        {t.import.choose}
      </Button>
      {fault !== undefined && (
        <p className="bad" role="alert">
          {fault}
        </p>
      )}
    </div>
  )
}
