// Very many jobs, as a large installation has them: in groups below groups, with labels, some paused, some only by hand. They
// fire in the first days of the year alone, so that a test is not about running them.

const areas = ['billing', 'data', 'infra', 'mail', 'media', 'reports', 'search', 'shop', 'sync', 'web'];
const parts = ['etl', 'export', 'import', 'index', 'cleanup', 'backup', 'check', 'send', 'refresh', 'archive'];
const teams = ['amber', 'birch', 'cedar', 'delta', 'ember', 'fjord', 'grove'];

/** The job of a number; the same each time. */
export function jobOf(n) {
  const area = areas[n % areas.length];
  const part = parts[Math.floor(n / 10) % parts.length];
  const group = n % 17 === 0 ? area : `${area}.${part}${n % 3 === 0 ? `.z${n % 8}` : ''}`;
  return {
    name: `${area}-${part}-${String(n).padStart(6, '0')}`, group, labels: { team: teams[n % teams.length], tier: String(n % 4) }, command: 'true', timezone: 'Europe/Berlin',
    ...(n % 5 === 0 && { title: `${part} of ${area}, part ${n}` }),
    ...(n % 23 !== 0 && { cronExpr: `${n % 60} ${n % 24} ${1 + (n % 9)} 1 *` }),
    ...(n % 29 === 0 && { paused: true, pauseNote: 'moved to the other cluster' }),
  };
}

/** Makes so many jobs, in as few requests as the API takes them in. */
export async function makeJobs(server, count, inOne = 10_000) {
  for (let from = 0; from < count; from += inOne) {
    const jobs = Array.from({ length: Math.min(inOne, count - from) }, (_, i) => jobOf(from + i));
    const { counts } = await server.api('POST', '/jobs/apply', { jobs });
    if (counts.refused + counts.unknown > 0) throw new Error(`jobs were not made: ${JSON.stringify(counts)}`);
  }
}
