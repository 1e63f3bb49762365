// @vitest-environment happy-dom
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { expect, it, vi } from 'vitest';
import { useEscapeKept } from './useEscapeKept.ts';

function Gate({ on }: { on: boolean }) {
  useEscapeKept(on);
  return <input aria-label="password" />;
}

it('keeps Escape, and no other key, from dialogs while it is active', () => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  const root = createRoot(document.body.appendChild(document.createElement('div')));
  act(() => root.render(<Gate on={false} />));
  const heard: string[] = [];
  const dialog = (event: KeyboardEvent) => heard.push(event.key);
  window.addEventListener('keydown', dialog, { capture: true });
  const press = (key: string) => document.querySelector('input')?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  press('Escape');
  act(() => root.render(<Gate on />));
  press('Escape');
  press('a');
  act(() => root.render(<Gate on={false} />));
  press('Escape');
  expect(heard).toEqual(['Escape', 'a', 'Escape']);
  window.removeEventListener('keydown', dialog, { capture: true });
  act(() => root.unmount());
  vi.unstubAllGlobals();
});
