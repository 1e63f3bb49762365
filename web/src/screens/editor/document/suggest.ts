function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) next.push(Math.min((next[j - 1] ?? 0) + 1, (row[j] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length] ?? 0;
}

// Names of the same settings in other systems, and short forms.
const elsewhere: Record<string, string> = {
  cron: 'cronExpr', schedule: 'cronExpr', expression: 'cronExpr', cmd: 'command', run: 'command', script: 'command', exec: 'command', environment: 'env', tz: 'timezone', zone: 'timezone', cwd: 'workDir',
  workingdirectory: 'workDir', retries: 'retry', notifications: 'notify', tags: 'labels', parameters: 'params', concurrency: 'overlap', concurrencypolicy: 'overlap', suspend: 'paused', disabled: 'paused', id: 'name',
};

/** Returns the most similar known name. */
export function suggest(word: string, known: readonly string[]): string | undefined {
  const plain = (text: string) => text.toLowerCase().replace(/[-_\s]/g, '');
  const meant = elsewhere[plain(word)];
  if (meant && known.includes(meant)) return meant;
  const near = known.map((name) => ({ name, far: distance(plain(word), plain(name)) })).sort((a, b) => a.far - b.far)[0];
  return near && near.far <= Math.max(1, Math.floor(word.length / 3)) ? near.name : undefined;
}
