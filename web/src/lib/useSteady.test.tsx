// @vitest-environment happy-dom
import { act, useState } from 'react';
import { createPortal } from 'react-dom';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { useSteady } from './useSteady.ts';

let root: Root;
let open: (is: boolean) => void;

/** Rows with a button each; the dialog of a row is rendered elsewhere and takes the focus, as dialogs do. */
function List({ rows, done }: { rows: readonly string[]; done: boolean | 'disabled' }) {
  const { rows: shown, hidden, show, around } = useSteady(rows, String);
  const [opened, setOpened] = useState(false);
  open = setOpened;
  return (
    <ul {...around}>
      {shown.map(({ row, gone }) => <li key={row} data-gone={gone || undefined}>{done === true ? row : <button type="button" disabled={done === 'disabled'}>{row}</button>}</li>)}
      {hidden > 0 && <em onClick={show}>{hidden}</em>}
      {opened && createPortal(<input aria-label="why" ref={(element) => element?.focus()} />, document.body)}
    </ul>
  );
}

const draw = (rows: readonly string[], done: boolean | 'disabled' = false) => act(() => root.render(<List rows={rows} done={done} />));
const shown = () => [...document.querySelectorAll('li')].map((row) => row.textContent + (row.dataset.gone ? ' gone' : ''));

beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  document.body.innerHTML = '<main></main>';
  root = createRoot(document.querySelector('main') as HTMLElement);
});

afterEach(() => {
  act(() => root.unmount());
  vi.unstubAllGlobals();
});

it('keeps rows in place while the focus is among them', () => {
  draw(['a', 'b']);
  act(() => document.querySelector('button')?.focus());
  draw(['c', 'b']);
  expect(shown()).toEqual(['a gone', 'b']);
  act(() => document.querySelector('button')?.blur());
  expect(shown()).toEqual(['c', 'b']);
});

it('counts the rows that wait, and shows them on request', () => {
  draw(['a', 'b']);
  act(() => document.querySelector('button')?.focus());
  draw(['d', 'c', 'a', 'b']);
  expect(shown()).toEqual(['a', 'b']);
  expect(document.querySelector('em')?.textContent).toBe('2');
  act(() => document.querySelector('em')?.click());
  expect(shown()).toEqual(['d', 'c', 'a', 'b']);
  expect(document.querySelector('em')).toBeNull();
});

it('continues after a row’s dialog has closed', () => {
  draw(['a']);
  act(() => open(true));
  expect(document.activeElement?.tagName).toBe('INPUT');
  act(() => open(false));
  draw(['b']);
  expect(shown()).toEqual(['b']);
});

it.each([true, 'disabled'] as const)('continues when the focused element becomes unusable: %s', (done) => {
  draw(['a']);
  act(() => document.querySelector('button')?.focus());
  draw(['a'], done);
  draw(['b'], done);
  expect(shown()).toEqual(['b']);
});
