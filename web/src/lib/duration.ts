// Durations in the server's format ("90s", "1h30m", "2d") and for display.

const unitSeconds: Record<string, number> = { ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600, d: 86400 };

/** Parses a duration to seconds; undefined if invalid. */
export function parseDuration(text: string): number | undefined {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|d|h|m|s)/g)];
  if (parts.length === 0 || parts.map((p) => p[0]).join('') !== text) return text === '0' ? 0 : undefined;
  return parts.reduce((sum, [, n, unit]) => sum + Number(n) * (unitSeconds[unit ?? ''] ?? 0), 0);
}

type Unit = 'ms' | 's' | 'm' | 'h' | 'd';

// Unit symbols, or words in languages without symbols; in Chinese a lone minute needs a longer word, since the short
// one is a clock's.
const symbols: Record<Unit, string> = { ms: 'ms', s: 's', m: 'm', h: 'h', d: 'd' };
const words: Record<Unit, string> = { ms: '毫秒', s: '秒', m: '分', h: '小时', d: '天' };

/** Formats a duration in the reader's language with at most two units: 12 ms, 3.4 s, 2 m 5 s, 1 h 3 m, 2 d 4 h. */
export function formatSeconds(seconds: number, language: string): string {
  if (!Number.isFinite(seconds)) return '–';
  if (seconds < 0) return `−${formatSeconds(-seconds, language)}`;
  const chinese = language === 'zh';
  const part = (n: number | string, unit: Unit) => `${n} ${(chinese ? words : symbols)[unit]}`;
  if (seconds < 0.9995) return part(Math.round(seconds * 1000), 'ms');
  // Whole seconds have no decimals.
  if (seconds < 9.95 && !Number.isInteger(seconds)) return part(seconds.toFixed(1), 's');
  const s = Math.round(seconds);
  if (s < 60) return part(s, 's');
  const pair = (big: number, bigUnit: Unit, small: number, smallUnit: Unit) => (small === 0 ? part(big, bigUnit) : `${part(big, bigUnit)} ${part(small, smallUnit)}`);
  if (s < 3600) return chinese && s % 60 === 0 ? `${s / 60} 分钟` : pair(Math.floor(s / 60), 'm', s % 60, 's');
  if (s < 86400) return pair(Math.floor(s / 3600), 'h', Math.floor((s % 3600) / 60), 'm');
  return pair(Math.floor(s / 86400), 'd', Math.floor((s % 86400) / 3600), 'h');
}

export function secondsBetween(from: string | undefined, to: string | undefined): number | undefined {
  if (!from || !to) return undefined;
  const ms = Date.parse(to) - Date.parse(from);
  return Number.isNaN(ms) ? undefined : ms / 1000;
}
