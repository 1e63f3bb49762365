import { formatBytes } from '../../lib/bytes.ts';
import { formatMs, formatRate } from '../../lib/figures.ts';

/** Unit of a chart's values: milliseconds, a count, a share of one, a multiple of one in percent, bytes, or bytes a second. */
export type Unit = 'ms' | 'count' | 'share' | 'percent' | 'bytes' | 'rate';
export type ChartTone = 'ok' | 'bad' | 'warn' | 'idle' | 'live';

export interface ChartSeries {
  id: string;
  name: string;
  /** One for each time; null if unknown. */
  values: readonly (number | null | undefined)[];
  tone: ChartTone;
  /** A line by default. */
  kind?: 'line' | 'area' | 'bars';
  dashed?: boolean;
  /** Fills the area between this series and the named one, such as two percentiles. */
  downTo?: string;
}

/** Formats a value for the legend. */
export function formatValue(value: number | null | undefined, unit: Unit, language: string): string {
  if (value === null || value === undefined) return '–';
  if (unit === 'ms') return formatMs(value, language);
  if (unit === 'share') return formatRate(value, language);
  if (unit === 'percent') return new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: value < 0.1 ? 1 : 0 }).format(value);
  if (unit === 'bytes') return formatBytes(Math.round(value));
  if (unit === 'rate') return `${formatBytes(Math.round(value))}/s`;
  return new Intl.NumberFormat(language, { maximumFractionDigits: value < 10 ? 1 : 0 }).format(value);
}

/** Formats a value for an axis, which is short. */
export function formatTick(value: number, unit: Unit, language: string): string {
  if (unit === 'ms') return value === 0 ? '0' : formatMs(value, language);
  if (unit === 'share' || unit === 'percent') return new Intl.NumberFormat(language, { style: 'percent' }).format(value);
  if (unit === 'bytes' || unit === 'rate') return value === 0 ? '0' : formatValue(value, unit, language);
  return new Intl.NumberFormat(language, { notation: 'compact' }).format(value);
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

// Up to 512 TiB.
const binary = Array.from({ length: 50 }, (_, power) => 2 ** power);

/** Steps between grid lines; times use multiples of sixty, bytes powers of two. */
export const steps: Record<Unit, number[]> = {
  ms: [
    ...[1, 2, 5, 10, 20, 50, 100, 200, 500], ...[1, 2, 5, 10, 15, 30].map((n) => n * second), ...[1, 2, 5, 10, 15, 30].map((n) => n * minute),
    ...[1, 2, 3, 6, 12].map((n) => n * hour), ...[1, 2, 5, 10, 20, 50, 100].map((n) => n * day),
  ],
  count: [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9].flatMap((n) => [n, 2 * n, 5 * n]),
  share: [0.05, 0.1, 0.2, 0.25, 0.5],
  percent: [0.01, 0.1, 1, 10, 100].flatMap((n) => [n, 2 * n, 5 * n]),
  bytes: binary,
  rate: binary,
};

/**
 * Returns start and end of a chart and the middle of each bucket, which lasts until the next one begins. All in
 * seconds.
 */
export function spread(times: readonly number[], buckets: boolean): { at: number[]; from: number; to: number } {
  const starts = times.map((time) => time / 1000);
  const first = starts[0] ?? 0;
  const last = starts.at(-1) ?? 0;
  if (!buckets) return { at: starts, from: first, to: last > first ? last : first + 1 };
  const width = starts.length > 1 ? last - (starts.at(-2) ?? last) : 3600;
  return { at: starts.map((start, i) => (start + (starts[i + 1] ?? start + width)) / 2), from: first, to: last + width };
}

/** Stacks each series on top of the previous ones. */
export function stack(series: readonly ChartSeries[]): (number | null)[][] {
  const sum: number[] = [];
  return series.map(({ values }) => values.map((value, i) => (sum[i] = (sum[i] ?? 0) + (value ?? 0))));
}

/** Describes a series for screen readers; undefined without values. */
export function rangeOfValues({ values }: Pick<ChartSeries, 'values'>): { min: number; max: number; last: number } | undefined {
  const known = values.filter((value) => value !== null && value !== undefined);
  const last = known.at(-1);
  if (last === undefined) return undefined;
  return known.reduce((range, value) => ({ min: Math.min(range.min, value), max: Math.max(range.max, value), last }), { min: last, max: last, last });
}

/** Formats a time for the axis, long enough to distinguish it from its neighbours. */
export function formatAxisTime(seconds: number, step: number, language: string, timeZone?: string): string {
  const date = new Date(seconds * 1000);
  const clock = new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit', ...(step < 60 && { second: '2-digit' }), hourCycle: 'h23', timeZone });
  const midnight = step < 86_400 && /^0?0:00(:00)?$/.test(clock.format(date));
  return step >= 86_400 || midnight ? new Intl.DateTimeFormat(language, { month: 'short', day: 'numeric', timeZone }).format(date) : clock.format(date);
}
