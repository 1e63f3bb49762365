// The guide: the pages of the documentation, by their paths in the repository without "docs/" and ".md".

/** The first page. */
export const firstPage = 'README';

/** The list of changes. */
export const changesPage = 'CHANGELOG';

/** The terms. */
export const glossaryPage = 'glossary';

/** The pages by subject, in the order of the list. Decisions (adr/…) are not listed: pages link to them. */
export const guideParts = {
  start: [firstPage, 'console', 'cronctl', 'migrate-from-crontab', glossaryPage, changesPage],
  jobs: ['jobs', 'cron', 'types', 'daemons', 'flows', 'sdk', 'history', 'notifications', 'secrets', 'hooks', 'run-as', 'lock', 'maintenance'],
  operation: ['deploy', 'configuration', 'access', 'sso', 'security', 'audit', 'metrics', 'backup'],
  inside: ['architecture', 'reliability', 'protocol', 'benchmarks'],
} as const;

export type GuidePart = keyof typeof guideParts;
export type GuidePageName = (typeof guideParts)[GuidePart][number];

const top = new Set<string>([firstPage, changesPage]);

/** Reports whether a text can be the name of a page. */
export function isPage(name: string): boolean {
  return /^(adr\/)?[\w-]+$/.test(name);
}

export type Target = { page: string; hash: string | undefined } | { href: string };

/** Returns where a link of a page leads: to a page, to a website, or, as undefined, to a file that the console does not have. */
export function targetOf(href: string, page: string): Target | undefined {
  if (/^(https?:|mailto:)/i.test(href)) return { href };
  const base = 'file:///root/';
  const from = top.has(page) ? `${page}.md` : `docs/${page}.md`;
  let to: URL;
  try {
    to = new URL(href, base + from);
  } catch {
    return undefined;
  }
  if (to.protocol !== 'file:' || !to.pathname.startsWith('/root/')) return undefined;
  const found = /^(?:docs\/)?(.+)\.md$/.exec(to.pathname.slice('/root/'.length));
  const name = found?.[1];
  if (name === undefined || !isPage(name) || to.pathname.startsWith('/root/docs/') === top.has(name)) return undefined;
  return { page: name, hash: to.hash === '' ? undefined : decodeURIComponent(to.hash.slice(1)) };
}

/** Returns the name of a heading in links, like GitHub's; used counts the names that were returned before. */
export function slugOf(heading: string, used: Map<string, number>): string {
  const slug = heading.toLowerCase().replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '').replaceAll(' ', '-');
  const before = used.get(slug) ?? 0;
  used.set(slug, before + 1);
  return before === 0 ? slug : `${slug}-${before}`;
}

/** Where the guide explains the sections of the job editor, as PAGE#HEADING. */
export const guideOf = {
  command: 'jobs#environment-of-a-command',
  limits: 'jobs#resource-limits-memorymax-tasksmax',
  policies: 'jobs#overlapping-runs-overlap',
  retry: 'jobs#retries-of-failed-runs-retry',
  placement: 'jobs#placement-placement-slots-priority',
  notify: 'notifications#events',
  history: 'jobs#retention-of-runs-retention',
  pause: 'jobs#pause-paused-pausenote-pauseuntil',
  dst: 'cron#daylight-saving-time',
} as const;
