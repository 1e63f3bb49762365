import type { TFunction } from 'i18next';
import { expect, it } from 'vitest';
import { kindText, verbText } from './auditWords.ts';

it('has a text for each action on flows', () => {
  const t = ((key: string) => key) as unknown as TFunction;
  for (const verb of ['run', 'kill', 'pause', 'resume', 'approve', 'reject', 'backfill', 'rollback']) expect(verbText(t, verb)).toBe(`audit.verbs.${verb}`);
  expect(verbText(t, 'unheard')).toBe('unheard');
  expect(kindText(t, 'maintenance')).toBe('audit.kinds.maintenance');
});
