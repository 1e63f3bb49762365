import { expect, it } from 'vitest';
import type { AuditEntry } from '../../api/types.ts';
import { auditAsCsv, jobOf } from './auditCsv.ts';

const kill: AuditEntry = { id: '1', at: '2026-11-22T10:00:00Z', actor: { name: '=cmd|x', remote: '192.0.2.7', note: 'too, slow' }, verb: 'kill', kind: 'run', name: 'r1', after: { job: 'shop.orders', signal: 'TERM' } };

it('names the job of a run', () => {
  expect(jobOf(kill)).toBe('shop.orders');
  expect(jobOf({ ...kill, after: undefined, before: { job: 'a' } })).toBe('a');
  expect(jobOf({ ...kill, after: ['job'] })).toBeUndefined();
  expect(jobOf({ ...kill, kind: 'job' })).toBeUndefined();
});

it('is written as CSV without formulas', () => {
  const [head, line] = auditAsCsv([kill]).split('\r\n');
  expect(head).toBe('at,actor,user,token,remote,verb,kind,name,job,note,before,after,seq,hash,id');
  expect(line).toBe(`2026-11-22T10:00:00Z,'=cmd|x,,,192.0.2.7,kill,run,r1,shop.orders,"too, slow",,"{""job"":""shop.orders"",""signal"":""TERM""}",,,1`);
});
