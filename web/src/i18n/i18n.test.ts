import { describe, expect, it } from 'vitest';
import { en } from './en/index.ts';
import { chooseLanguage } from './index.ts';
import { zh } from './zh/index.ts';
import { zhServer } from './zh/server.ts';

function flatten(node: object, prefix = ''): Map<string, string> {
  const all = new Map<string, string>();
  for (const [key, value] of Object.entries(node)) {
    if (typeof value === 'string') all.set(prefix + key, value);
    else for (const [k, v] of flatten(value as object, `${prefix}${key}.`)) all.set(k, v);
  }
  return all;
}

const english = flatten(en);
const chinese = flatten(zh);
const placeholders = (text = '') => [...text.matchAll(/{{(\w+)}}/g)].map((m) => m[1]).sort();

// Texts that are the same in both languages: symbols and untranslated names.
const same = new Set(['common.none', 'login.tokenPlaceholder', 'job.shell', 'editor.shell', 'run.delayOf', 'workers.id', 'charts.said', 'channels.kinds.webhook', 'channels.kinds.slack', 'channels.kinds.opsgenie', 'channels.kinds.ntfy', 'channels.kinds.telegram', 'channels.kinds.mattermost', 'channels.kinds.discord', 'channels.kinds.teams', 'channels.kinds.pagerduty']);

describe('English and Chinese', () => {
  it('have the same keys', () => expect([...chinese.keys()].sort()).toEqual([...english.keys()].sort()));
  it.each([...english.keys()])('%s has the same placeholders and is translated', (key) => {
    expect(placeholders(chinese.get(key))).toEqual(placeholders(english.get(key)));
    expect(english.get(key)).not.toBe('');
    if (!same.has(key)) expect(chinese.get(key)).toMatch(/\p{Script=Han}/u);
  });
});

it.each([...flatten(zhServer)])('what the server says as %s is translated', (_key, text) => expect(text).toMatch(/\p{Script=Han}/u));

it.each([
  ['zh', ['en-US'], 'zh'],
  [null, ['zh-CN', 'en'], 'zh'],
  [null, ['de-DE', 'zh-Hant'], 'zh'],
  [null, ['de-DE'], 'en'],
  ['xx', ['en-GB'], 'en'],
  [null, [], 'en'],
])('stored %s, wanted %j: %s', (stored, wanted, language) => expect(chooseLanguage(stored, wanted)).toBe(language));
