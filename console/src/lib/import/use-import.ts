import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo, useRef, useState } from 'react'
import { collections } from '../../api/catalog.ts'
import { type Problem, problemFrom } from '../../api/exchange.ts'
import { type AccountCollection, withOwnFields } from '../../api/own-fields.ts'
import { ownFieldsQuery } from '../../api/own-fields-query.ts'
import { readList } from '../../api/read.ts'
import { t } from '../../texts/texts.ts'
import { keyCandidates } from '../fields/field.ts'
import { CsvError, type CsvFile, decodeCsv, fileBytesMax, parseCsv } from './csv-rows.ts'
import {
  keyChoices,
  type MappedRow,
  type Mapping,
  mappedRows,
  mappingFault,
  suggestedColumns,
} from './mapping.ts'
import { type Preview, previewOf, type ReadRecords } from './preview.ts'
import { type Progress, upload } from './upload.ts'

export type ResourceName = 'product' | 'partner' | 'company'

export type Step =
  | { readonly kind: 'file'; readonly fault?: string }
  | { readonly kind: 'columns' }
  | { readonly kind: 'checking' }
  | { readonly kind: 'preview'; readonly preview: Preview }
  | { readonly kind: 'running'; readonly progress: Progress | undefined }
  | {
      readonly kind: 'done'
      readonly progress: Progress
      readonly problem: Problem | undefined
      readonly isCancelled: boolean
    }

interface Opened {
  readonly file: CsvFile & { readonly name: string }
  readonly mapping: Mapping
}

/** An import from the file to the rejected rows. */
export function useImport(resource: ResourceName) {
  const queryClient = useQueryClient()
  const own = useQuery(ownFieldsQuery)
  const collection: AccountCollection = useMemo(
    () => withOwnFields(collections[resource], own.data),
    [resource, own.data],
  )
  const [step, setStep] = useState<Step>({ kind: 'file' })
  const [problem, setProblem] = useState<Problem>()
  const [opened, setOpened] = useState<Opened>()
  const { run, cancel } = useUpload(resource, setStep)
  const open = async (chosen: File) => {
    setProblem(undefined)
    try {
      // The file may be dropped before the fields of the account are loaded. Without them, those of the service can be imported.
      const fields = await queryClient.fetchQuery(ownFieldsQuery).catch(() => undefined)
      setOpened(await openedFile(chosen, withOwnFields(collections[resource], fields)))
      setStep({ kind: 'columns' })
    } catch (error) {
      if (!(error instanceof CsvError)) throw error
      setStep({ kind: 'file', fault: error.message })
    }
  }
  const change = (part: Partial<Mapping>) => {
    setOpened((current) => current && { ...current, mapping: { ...current.mapping, ...part } })
    setProblem(undefined)
    setStep({ kind: 'columns' })
  }
  const check = async ({ file, mapping }: Opened) => {
    setProblem(undefined)
    setStep({ kind: 'checking' })
    try {
      const rows = mappedRows(file, collection, mapping)
      setStep({ kind: 'preview', preview: await previewOf(rows, collection, mapping, recordsOf(resource)) })
    } catch (error) {
      setProblem(problemFrom(error))
      setStep({ kind: 'columns' })
    }
  }
  const startAgain = () => {
    setOpened(undefined)
    setProblem(undefined)
    setStep({ kind: 'file' })
  }
  return {
    collection,
    keys: keyChoices(collection, keyCandidates[resource]),
    step,
    opened,
    problem: problem ?? (own.error === null ? undefined : problemFrom(own.error)),
    fault: opened && mappingFault(opened.mapping),
    open,
    change,
    check,
    run: ({ file, mapping }: Opened) => run(mappedRows(file, collection, mapping), mapping),
    startAgain,
    cancel,
  }
}

export type ImportView = ReturnType<typeof useImport>

/** Throws CsvError if it cannot be read. */
async function openedFile(chosen: File, collection: AccountCollection): Promise<Opened> {
  if (chosen.size > fileBytesMax) throw new CsvError(t.import.tooLarge)
  const parsed = parseCsv(decodeCsv(new Uint8Array(await chosen.arrayBuffer())))
  const columns = suggestedColumns(parsed.header, collection)
  const choices = keyChoices(collection, keyCandidates[collection.name])
  const key = choices.find((name) => columns.includes(name)) ?? 'id'
  // Ids are mostly those of an export. New records have none, or one of the system that assigns them.
  const mode = key === 'id' ? 'update' : 'upsert'
  return { file: { ...parsed, name: chosen.name }, mapping: { columns, key, mode, notation: 'service' } }
}

function recordsOf(resource: ResourceName): ReadRecords {
  return async (filter, fields) => {
    const { body } = await readList(resource, { filter, fields: fields.join(','), limit: '1000' })
    return body.data
  }
}

const nothing: Progress = { read: 0, inserted: 0, updated: 0, unchanged: 0, rejected: 0, rejects: [] }

function useUpload(resource: ResourceName, onStep: (step: Step) => void) {
  const queryClient = useQueryClient()
  const abort = useRef<AbortController>(undefined)
  const run = async (rows: readonly MappedRow[], mapping: Mapping) => {
    abort.current = new AbortController()
    const { signal } = abort.current
    let last = nothing
    onStep({ kind: 'running', progress: undefined })
    const end = (problem: Problem | undefined) => {
      onStep({ kind: 'done', progress: last, problem, isCancelled: signal.aborted })
      void queryClient.invalidateQueries({ queryKey: ['list', resource] })
      void queryClient.invalidateQueries({ queryKey: ['record', resource] })
    }
    const onProgress = (progress: Progress) => {
      last = progress
      onStep({ kind: 'running', progress })
    }
    try {
      await upload({ rows, path: collections[resource].path, mapping, signal, onProgress })
      end(undefined)
    } catch (error) {
      end(signal.aborted ? undefined : problemFrom(error))
    }
  }
  return { run, cancel: () => abort.current?.abort() }
}
