import i18next from 'i18next';
import { expect, test } from 'vitest';
import { actorText } from './actorText.ts';

const t = ((key: string, { name = '' }: { name?: string } = {}) => (name ? `${key} ${name}` : key)) as unknown as typeof i18next.t;

test('it names users and tokens as they are, web hooks by their kind, and the first start of a server', () => {
  expect(actorText(t, 'ann')).toBe('ann');
  expect(actorText(t, 'hook:push')).toBe('actor.hook push');
  expect(actorText(t, 'first start')).toBe('actor.firstStart');
});
