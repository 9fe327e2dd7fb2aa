/** An invalid setting, and how to repair it. */
export interface ConfigFault {
  readonly variable: string
  /** Without the value of the variable, which may contain a password. */
  readonly message: string
  readonly repair: string
}
