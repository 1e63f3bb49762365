import { describe, expect, it } from 'vitest';
import type { Secret } from '../../api/types.ts';
import { definitionOfSecret, mayKeep, secretForm } from './secretForm.ts';

const db: Secret = { name: 'db', description: 'of the reports', groups: ['reports'], jobs: 2, version: 3, setAt: '', createdAt: '', updatedAt: '' };

describe('definitionOfSecret', () => {
  it('keeps an existing value, its description and its groups', () => expect(definitionOfSecret(secretForm(db))).toEqual({ description: 'of the reports', groups: ['reports'] }));
  it('takes a value as it is, except for the final line break', () => {
    expect(definitionOfSecret({ ...secretForm(undefined), value: '  two\nlines \r\n' })).toEqual({ value: '  two\nlines ' });
  });
});

describe('mayKeep', () => {
  it('needs the role admin in each group', () => {
    const me = { groups: { reports: 'admin', shop: 'editor' } } as const;
    expect(mayKeep(me, ['reports'])).toBe(true);
    expect(mayKeep(me, ['reports', 'shop'])).toBe(false);
  });
  it('needs a global admin for a secret of all groups', () => {
    expect(mayKeep({ groups: { reports: 'admin' } }, [])).toBe(false);
    expect(mayKeep({ role: 'admin' }, [])).toBe(true);
  });
});
