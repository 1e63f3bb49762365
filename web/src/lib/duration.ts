// Durations as the server reads them ("90s", "1h30m", "2d"), and as people read them.

const unitSeconds: Record<string, number> = { ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600, d: 86400 };

/** Seconds of a duration text; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|d|h|m|s)/g)];
  if (parts.length === 0 || parts.map((p) => p[0]).join('') !== text) return text === '0' ? 0 : undefined;
  return parts.reduce((sum, [, n, unit]) => sum + Number(n) * (unitSeconds[unit ?? ''] ?? 0), 0);
}

/** Words for a length of time, two units at most: 12 ms, 3.4 s, 2 m 5 s, 1 h 3 m, 2 d 4 h. Units are symbols, the same in every language. */
export function formatSeconds(seconds: number): string {
  if (!Number.isFinite(seconds)) return '–';
  if (seconds < 0) return `−${formatSeconds(-seconds)}`;
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  // A whole number, as of a clock that counts seconds, has no tenths to tell.
  if (seconds < 9.95 && !Number.isInteger(seconds)) return `${seconds.toFixed(1)} s`;
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  const pair = (big: number, bigUnit: string, small: number, smallUnit: string) =>
    small === 0 ? `${big} ${bigUnit}` : `${big} ${bigUnit} ${small} ${smallUnit}`;
  if (s < 3600) return pair(Math.floor(s / 60), 'm', s % 60, 's');
  if (s < 86400) return pair(Math.floor(s / 3600), 'h', Math.floor((s % 3600) / 60), 'm');
  return pair(Math.floor(s / 86400), 'd', Math.floor((s % 86400) / 3600), 'h');
}

export function secondsBetween(from: string | undefined, to: string | undefined): number | undefined {
  if (!from || !to) return undefined;
  const ms = Date.parse(to) - Date.parse(from);
  return Number.isNaN(ms) ? undefined : ms / 1000;
}
