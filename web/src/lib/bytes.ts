/** Bytes with binary units: 0 B, 1.5 KiB, 16 MiB. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  const text = unit === 0 || value >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1);
  return `${text} ${units[unit]}`;
}

const prefixes = ['KiB', 'MiB', 'GiB'];

/** Parses a size of a job, such as 512MiB; undefined if there is none. */
export function parseBytes(text: string | undefined): number | undefined {
  const [, number, unit = ''] = /^(\d+)(KiB|MiB|GiB)$/.exec(text ?? '') ?? [];
  return number === undefined ? undefined : Number(number) * 1024 ** (prefixes.indexOf(unit) + 1);
}
