// The meaning of the shades of a heat map.

export const levels = 6;

/** Thresholds of the shades, lightest first, in equal ratios, since relative differences matter. */
export function heatScale(top: number): number[] {
  const most = Math.max(1, Math.floor(top));
  if (most <= levels) return Array.from({ length: most }, (_, i) => i + 1);
  const bounds: number[] = [];
  for (let i = 0; i < levels; i++) bounds.push(Math.max((bounds.at(-1) ?? 0) + 1, Math.round(most ** (i / levels))));
  return bounds;
}

/**
 * Returns the shade, from 1; 0 for none. If there are few shades the dark ones are used, so that the highest value is
 * always the darkest.
 */
export function levelOf(value: number, scale: readonly number[]): number {
  const reached = scale.filter((bound) => value >= bound).length;
  return reached === 0 ? 0 : Math.round((reached / scale.length) * levels);
}

/** Returns the range of each shade: from, to. */
export function rangesOf(scale: readonly number[], top: number): { level: number; from: number; to: number }[] {
  return scale.map((from, i) => ({ level: levelOf(from, scale), from, to: Math.max(from, (scale[i + 1] ?? Math.max(from, Math.floor(top)) + 1) - 1) }));
}
