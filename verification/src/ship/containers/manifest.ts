/** What every manifest has. The rest is checked by the schema of its kind. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly creationTimestamp?: string | null }
}
