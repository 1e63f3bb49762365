// Characters that change the appearance of text without being visible: bidirectional controls can reorder a line,
// zero-width ones make two names look alike, other controls come from terminals. Each is shown by name.

const names: Record<number, string> = {
  0x00ad: 'SHY', 0x061c: 'ALM', 0x200b: 'ZWSP', 0x200e: 'LRM', 0x200f: 'RLM', 0x2028: 'LS', 0x2029: 'PS',
  0x202a: 'LRE', 0x202b: 'RLE', 0x202c: 'PDF', 0x202d: 'LRO', 0x202e: 'RLO', 0x2060: 'WJ',
  0x2066: 'LRI', 0x2067: 'RLI', 0x2068: 'FSI', 0x2069: 'PDI', 0xfeff: 'BOM',
};

const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;

function show(char: string): string {
  const code = char.charCodeAt(0);
  const name = names[code];
  if (name) return `⟦${name}⟧`;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '␡';
  return `⟦${code.toString(16).toUpperCase().padStart(4, '0')}⟧`;
}

/** Returns the text with all invisible characters shown; tabs and newlines stay. */
export function visible(text: string): string {
  return text.replace(unseen, show);
}
