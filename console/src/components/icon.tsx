/** Line icons on a 16 by 16 grid. */
const shapes = {
  box: 'M8 1.8 13.7 5v6L8 14.2 2.3 11V5zM2.5 5.1 8 8.2l5.5-3.1M8 8.2v6',
  people:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.5c.3-2.6 2-4 4.5-4s4.2 1.4 4.5 4M10.5 2.7a2.5 2.5 0 0 1 0 4.6M12 9.7c1.5.5 2.3 1.8 2.5 3.8',
  building: 'M3 14V2.5h7V14M10 6h3v8M1.5 14h13M5.3 5.2h2.4M5.3 8h2.4M5.3 10.8h2.4',
  key: 'M10.2 9.3a3.6 3.6 0 1 0-3.4-2.5L2 11.6V14h2.6v-1.7h1.7v-1.7h1.5l1-1a3.6 3.6 0 0 0 1.4-.3zM11 5h.01',
  history: 'M2.2 8a5.8 5.8 0 1 0 1.9-4.3L2.2 5.4M2.2 2.3v3.1h3.1M8 5v3.2l2.2 1.3',
  pulse: 'M1.5 8h3l2-5 3 10 2-5h3',
  chart: 'M2 13.5h12M4 13V9M8 13V3.5M12 13V6.5',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.7 10.7 14 14',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9',
  moon: 'M13.5 9.6A5.8 5.8 0 0 1 6.4 2.5a5.8 5.8 0 1 0 7.1 7.1z',
  help: 'M8 14.3A6.3 6.3 0 1 0 8 1.7a6.3 6.3 0 0 0 0 12.6zM6.2 6.3c.2-1.1 1-1.7 1.9-1.7 1.1 0 1.9.7 1.9 1.7 0 1.4-2 1.5-2 2.9M8 11.4h.01',
  out: 'M6 2.5H2.5v11H6M10.5 11l3-3-3-3M13.5 8H6',
  columns: 'M2 2.5h12v11H2zM6 2.5v11M10 2.5v11',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  download: 'M8 2v8M4.8 7 8 10.2 11.2 7M2.5 13.5h11',
  upload: 'M8 10.5v-8M4.8 5.2 8 2l3.2 3.2M2.5 13.5h11',
  code: 'M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5',
  plus: 'M8 3v10M3 8h10',
  minus: 'M3 8h10',
  close: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  left: 'M10 3 5 8l5 5',
  right: 'M6 3l5 5-5 5',
  up: 'M3 10l5-5 5 5',
  down: 'M3 6l5 5 5-5',
  check: 'M3 8.5 6.5 12 13 4.5',
  star: 'M8 2l1.8 3.8 4.2.5-3.1 2.9.8 4.1L8 11.3l-3.7 2 .8-4.1L2 6.3l4.2-.5z',
  menu: 'M2 4h12M2 8h12M2 12h12',
  filter: 'M2 3h12L9.5 8.5v4.5L6.5 11.5v-3z',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  link: 'M6.5 9.5l3-3M7.5 4.5l1.3-1.3a3 3 0 0 1 4.2 4.2L11.7 8.7M8.5 11.5l-1.3 1.3a3 3 0 0 1-4.2-4.2l1.3-1.3',
  delta: 'M2 5h9.5M9 2.5 11.5 5 9 7.5M14 11H4.5M7 8.5 4.5 11 7 13.5',
  send: 'M14 2 7 9M14 2 9.5 14 7 9 2 6.5z',
  hook: 'M8 2.2a2 2 0 1 0 .01 0zM8 6.2v5a2.4 2.4 0 0 1-4.8 0V9.6M1.8 11l1.4-1.6L4.6 11',
  tag: 'M2.5 2.5h5.2l6 6-5.2 5.2-6-6zM5.4 5.4h.01',
  rotate: 'M13.5 8a5.5 5.5 0 1 1-1.7-4M13.5 2v3h-3',
} as const

export type IconName = keyof typeof shapes

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.4}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={shapes[name]} />
    </svg>
  )
}

export function Logo({ size = 20 }: { readonly size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 20 20" fill="none" aria-hidden="true">
      <rect x="1" y="1" width="18" height="18" rx="5" fill="currentColor" />
      <path d="M5.5 7h9M5.5 10h9M5.5 13h5" stroke="var(--bg)" strokeWidth="1.7" strokeLinecap="round" />
    </svg>
  )
}
