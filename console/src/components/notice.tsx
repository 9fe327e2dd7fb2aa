interface NoticeProps {
  readonly tone: 'warn' | 'bad'
  readonly title: string
  readonly children: React.ReactNode
}

/** Something that a person should know before they go on. */
export function Notice({ tone, title, children }: NoticeProps) {
  return (
    <div className="notice" data-tone={tone} role="note">
      <b>{title}</b>
      <p>{children}</p>
    </div>
  )
}
