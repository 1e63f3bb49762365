// @vitest-environment happy-dom
import { beforeEach, expect, it } from 'vitest';
import { forgetDrafts } from '../../lib/drafts.ts';
import { keepDraft, readDraft, type DraftOf } from './draft.ts';

const copy: DraftOf = { who: 'user:ann', job: undefined, from: 'a' };

beforeEach(() => {
  window.sessionStorage.clear();
  keepDraft(copy, { text: 'name: a-copy' });
});

it('stores a draft by user and job', () => {
  expect(readDraft(copy)).toEqual({ text: 'name: a-copy', base: undefined });
  for (const other of [{ who: 'user:ben' }, { from: 'b' }, { from: undefined }, { job: 'a', from: undefined }]) expect(readDraft({ ...copy, ...other })).toBeUndefined();
});

it('is deleted with all others', () => {
  forgetDrafts();
  expect(readDraft(copy)).toBeUndefined();
});
