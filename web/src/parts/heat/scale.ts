// The meaning of the shades of a heat map.

export const levels = 6;

/** From how many on each shade is used, the lightest first; in equal ratios, since what counts is how many times more. */
export function heatScale(top: number): number[] {
  const most = Math.max(1, Math.floor(top));
  if (most <= levels) return Array.from({ length: most }, (_, i) => i + 1);
  const bounds: number[] = [];
  for (let i = 0; i < levels; i++) bounds.push(Math.max((bounds.at(-1) ?? 0) + 1, Math.round(most ** (i / levels))));
  return bounds;
}

/** Which shade, from 1 on; 0 is none at all. With few shades the dark ones are used, too, so that the fullest is always the darkest. */
export function levelOf(value: number, scale: readonly number[]): number {
  const reached = scale.filter((bound) => value >= bound).length;
  return reached === 0 ? 0 : Math.round((reached / scale.length) * levels);
}

/** The range of each shade of the scale: from, to. */
export function rangesOf(scale: readonly number[], top: number): { level: number; from: number; to: number }[] {
  return scale.map((from, i) => ({ level: levelOf(from, scale), from, to: Math.max(from, (scale[i + 1] ?? Math.max(from, Math.floor(top)) + 1) - 1) }));
}
