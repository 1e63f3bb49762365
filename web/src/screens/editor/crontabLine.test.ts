import { expect, it } from 'vitest';
import { crontabIn } from './crontabLine.ts';

it.each([
  ['*/5 * * * * /usr/bin/backup --all >/dev/null 2>&1', 'line'], ['@daily make report\n', 'line'], ['30 2 * * MON-FRI cd /srv && make report', 'line'], ['# nightly\n0 3 * * * true', 'line'],
  ['MAILTO=ops\n0 3 * * * a\n0 4 * * * b\n', 'several'], ['0 3 * * * a\n0 4 * * * b', 'several'],
  ['30 2 * * MON-FRI', undefined], ['0 30 2 * * * *', undefined], ['0 30 2 * * MON-FRI *', undefined], ['@every 90s', undefined], ['@daily', undefined], ['make a b c d e f', undefined], ['echo 1 2 3 4 5 6', undefined],
  ['set -e\nmake report', undefined], ['', undefined],
])('%j is %s', (text, what) => expect(crontabIn(text)).toBe(what));
