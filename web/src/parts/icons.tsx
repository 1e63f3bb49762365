// The console's own icons: 24 units wide, in the text's colour, and hidden from screen readers, which get words.

const paths = {
  bell: 'M12 3a6 6 0 0 0-6 6v4l-2 4h16l-2-4V9a6 6 0 0 0-6-6zM10 20a2 2 0 0 0 4 0',
  play: 'M7 5v14l11-7z',
  plus: 'M12 5v14M5 12h14',
  pencil: 'M4 20l1-4L16 5l3 3L8 19zM14 7l3 3',
  trash: 'M5 7h14M10 11v6M14 11v6M6 7l1 13h10l1-13M9 7V4h6v3',
  dots: 'M5 12h.01M12 12h.01M19 12h.01',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM20 20l-4-4',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.500 1.500M17.500 17.500L19 19M5 19l1.500-1.500M17.500 6.500L19 5',
  moon: 'M20 14A8 8 0 0 1 10 4a8 8 0 1 0 10 10z',
  screen: 'M3 5h18v11H3zM9 20h6M12 16v4',
  globe: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18',
  user: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4 21a8 8 0 0 1 16 0',
  pause: 'M8 5v14M16 5v14',
  calendar: 'M4 6h16v14H4zM4 10h16M8 3v4M16 3v4',
  gear: 'M4 7h9M17 7h3M15 5v4M4 17h3M11 17h9M9 15v4',
  stop: 'M6 6h12v12H6z',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M5 12l5 5 9-10',
  close: 'M6 6l12 12M18 6L6 18',
  warn: 'M12 4L2 20h20zM12 10v5M12 18h.01',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3 2',
  skip: 'M6 5v14l8-7zM18 5v14',
  question: 'M9 9a3 3 0 1 1 4 3c-1 .5-1 1-1 2M12 18h.01',
  star: 'M12 4l2.400 5.200 5.600.700-4.200 3.800 1.200 5.600L12 16.500l-5 2.800 1.200-5.600L4 9.900l5.600-.700z',
  code: 'M8 7l-5 5 5 5M16 7l5 5-5 5M13.500 5l-3 14',
  keyboard: 'M3 6h18v12H3zM7 10h.01M11 10h.01M15 10h.01M8 14h8',
  undo: 'M9 7L4 12l5 5M4 12h10a6 6 0 0 1 6 6v1',
  redo: 'M15 7l5 5-5 5M20 12H10a6 6 0 0 0-6 6v1',
  left: 'M15 5l-7 7 7 7',
  right: 'M9 5l7 7-7 7',
  up: 'M5 15l7-7 7 7',
  down: 'M5 9l7 7 7-7',
  minus: 'M5 12h14',
  out: 'M10 4H5v16h5M14 8l4 4-4 4M18 12H9',
  gauge: 'M4 18a9 9 0 1 1 16 0M12 14l4-5M12 14h.01',
  list: 'M8 6h13M8 12h13M8 18h13M3.500 6h.01M3.500 12h.01M3.500 18h.01',
  timeline: 'M3 5h8M8 10h9M5 15h7M13 20h8',
  history: 'M4 12a8 8 0 1 0 2.500-5.800L4 8.500M4 4v4.500h4.500M12 8v4.500l3 2',
  book: 'M5 4h12a2 2 0 0 1 2 2v14H7a2 2 0 0 1-2-2zM5 18a2 2 0 0 1 2-2h12M9 8h6',
  server: 'M4 4h16v6H4zM4 14h16v6H4zM8 7h.01M8 17h.01M13 7h3M13 17h3',
  key: 'M8 11a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM11 12l8-8M16 7l3 3',
  menu: 'M4 7h16M4 12h16M4 17h16',
  refresh: 'M20 12a8 8 0 1 1-2.500-5.800L20 8.500M20 4v4.500h-4.500',
  filter: 'M4 5h16l-6 7v6l-4 2v-8z',
  folder: 'M3 6h6l2 2h10v11H3z',
  expand: 'M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5',
  wrap: 'M4 6h16M4 12h13a3 3 0 0 1 0 6h-4M4 18h5M15 16l-2 2 2 2',
  lock: 'M6 11h12v9H6zM8 11V8a4 4 0 0 1 8 0v3M12 15v2',
  pool: 'M4 5h4v14H4zM10 5h4v14h-4zM16 5h4v14h-4z',
  inherit: 'M4 4h8v5H4zM12 15h8v5h-8zM6 9v8.500h6',
  link: 'M10 14l4-4M8 12l-2.500 2.500a3.500 3.500 0 0 0 5 5L13 17M11 7l2.500-2.500a3.500 3.500 0 0 1 5 5L16 12',
  pulse: 'M3 12h4l3-8 4 16 3-8h4',
  send: 'M21 3L3 11l7 3 3 7zM10 14l5-5',
  follow: 'M6 5l6 6 6-6M6 13l6 6 6-6',
  broom: 'M20 4l-8 8M9 10l5 5-5.500 5.500c-2-.200-4-1-5.500-2.500l3-1zM7.500 16.500L6 20',
  join: 'M3 5c6 0 6 7 11 7h7M3 19c6 0 6-7 11-7M17 8l4 4-4 4',
  terminal: 'M3 5h18v14H3zM7 9l3 3-3 3M12 15h5',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size} height={size} viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth={name === 'dots' ? 3 : 1.8}
      strokeLinecap="round" strokeLinejoin="round" aria-hidden="true" focusable="false"
    >
      <path d={paths[name]} />
    </svg>
  );
}
