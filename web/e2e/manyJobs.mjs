// A large number of jobs, as in a large installation: in nested groups, with labels, some paused, some manual. They
// fire only in the first days of the year, so that tests do not run them.

const areas = ['billing', 'data', 'infra', 'mail', 'media', 'reports', 'search', 'shop', 'sync', 'web'];
const parts = ['etl', 'export', 'import', 'index', 'cleanup', 'backup', 'check', 'send', 'refresh', 'archive'];
const teams = ['amber', 'birch', 'cedar', 'delta', 'ember', 'fjord', 'grove'];

/** Returns the job with a number, always the same. */
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

/** Creates this many jobs, with as few requests as the API allows. */
export async function makeJobs(server, count, inOne = 10_000) {
  for (let from = 0; from < count; from += inOne) {
    const jobs = Array.from({ length: Math.min(inOne, count - from) }, (_, i) => jobOf(from + i));
    const { counts } = await server.api('POST', '/jobs/apply', { jobs });
    if (counts.refused + counts.unknown > 0) throw new Error(`jobs were not made: ${JSON.stringify(counts)}`);
  }
}
