import { EditorState } from '@codemirror/state';
import { expect, it, vi } from 'vitest';
import { JobDocument } from './JobDocument.ts';

it('has one undo history for the form and the text', () => {
  const doc = new JobDocument('# mine\nname: a\n');
  doc.set(['title'], 'x');
  doc.set(['title'], 'xy');
  doc.write(`${doc.text}command: "true"\n`);
  expect(doc.text).toBe('# mine\nname: a\ntitle: xy\ncommand: "true"\n');
  doc.undo();
  expect(doc.text).toBe('# mine\nname: a\ntitle: xy\n');
  doc.undo();
  expect(doc.text).toBe('# mine\nname: a\n');
  expect(doc.snapshot()).toMatchObject({ canUndo: false, canRedo: true });
  doc.redo();
  expect(doc.snapshot().parsed.definition).toEqual({ name: 'a', title: 'xy' });
});

it('keeps the last valid job while the text is invalid', () => {
  const doc = new JobDocument('name: a\n');
  let told = 0;
  doc.subscribe(() => told++);
  doc.write('name: a\nb: : c\n');
  expect(doc.snapshot().parsed.definition).toBeUndefined();
  expect(doc.snapshot().good.definition).toEqual({ name: 'a' });
  doc.write('name: a\ntitle: c\n');
  expect(doc.snapshot().good.definition).toEqual({ name: 'a', title: 'c' });
  expect(told).toBe(2);
});

it('sets several fields as one edit', () => {
  const doc = new JobDocument('');
  doc.setAll([[['name'], 'a'], [['cronExpr'], '* * * * *'], [['env', 'A'], '1']]);
  expect(doc.text).toBe('name: a\ncronExpr: "* * * * *"\nenv:\n  A: "1"\n');
  doc.undo();
  expect(doc.text).toBe('');
});

it('shows pasted text, even if it is invalid', () => {
  const doc = new JobDocument('name: a\ncommand: old\n');
  doc.write('name: a\ncommand: [ls, *.log]\n');
  expect(doc.snapshot().parsed.text).toBe(doc.text);
  expect(doc.snapshot().parsed.faults.map(({ kind }) => kind)).toContain('reference');
  expect(JSON.stringify(doc.snapshot().good.definition)).not.toContain('old');
});

it('a text that is slow to parse is parsed when typing pauses, or when it is needed', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const clock = vi.spyOn(performance, 'now');
  let now = 0;
  clock.mockImplementation(() => (now += 50)); // each parsing takes 50 ms
  try {
    const doc = new JobDocument('name: a\n');
    let told = 0;
    doc.subscribe(() => told++);
    const typed = (text: string) => doc.take(EditorState.create({ doc: text }));
    typed('name: ab\n');
    typed('name: abc\n');
    expect(doc.snapshot()).toMatchObject({ stale: true, parsed: { definition: { name: 'a' } } });
    expect(told).toBe(1);
    vi.advanceTimersByTime(299);
    expect(told).toBe(1);
    vi.advanceTimersByTime(1);
    expect(doc.snapshot()).toMatchObject({ stale: false, parsed: { definition: { name: 'abc' } } });
    typed('name: abcd\n');
    expect(doc.settled().parsed.definition).toEqual({ name: 'abcd' });
    expect(told).toBe(4);
    vi.advanceTimersByTime(10_000);
    expect(told, 'it was parsed already').toBe(4);
    doc.set(['title'], 'x');
    expect(doc.snapshot().parsed.definition, 'the form shows its values at once').toEqual({ name: 'abcd', title: 'x' });
  } finally {
    clock.mockRestore();
    vi.useRealTimers();
  }
});
