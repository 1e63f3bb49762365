// Reports whether pasted text is a crontab line: a schedule followed by a command, which no single field holds.

const part = /^[\d*,/\-?#~A-Za-z]+$/;
// Text that continues as a seven-field schedule is not a command.
const scheduleToo = /^[\d*,/\-?#LWA-Z]+(?:\s+[\d*,/\-?#LWA-Z]+)?$/;

function isEntry(line: string): boolean {
  const at = /^@[a-z]+\s+(\S.*)$/.exec(line);
  if (at) return !/^@(?:every|at)\b/.test(line);
  const [, fields = '', command = ''] = /^-?((?:\S+\s+){5})(\S.*)$/.exec(line) ?? [];
  const parts = fields.trim().split(/\s+/);
  return parts.length === 5 && parts.every((field) => part.test(field)) && /^[\d*]/.test(parts[0] ?? '') && command !== '' && !scheduleToo.test(command);
}

/** Classifies a text: one crontab line, several, or something else. */
export function crontabIn(text: string): 'line' | 'several' | undefined {
  const lines = text.split('\n').map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
  const entries = lines.filter(isEntry).length;
  if (lines.length === 1) return entries === 1 ? 'line' : undefined;
  const settings = lines.filter((line) => /^[A-Za-z_]\w*\s*=/.test(line)).length;
  return entries > 0 && entries + settings === lines.length ? 'several' : undefined;
}
