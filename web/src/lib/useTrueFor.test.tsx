// @vitest-environment happy-dom
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { expect, it, vi } from 'vitest';
import { useTrueFor } from './useTrueFor.ts';

const seen: boolean[] = [];

function Probe({ condition }: { condition: boolean }) {
  seen.push(useTrueFor(condition, 2000));
  return null;
}

it('reports a condition that has held for the time, or from the start', () => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  vi.useFakeTimers();
  const root = createRoot(document.body.appendChild(document.createElement('div')));
  const show = (condition: boolean, key: string) => {
    act(() => root.render(<Probe key={key} condition={condition} />));
    return seen.at(-1);
  };
  const after = (ms: number) => {
    act(() => void vi.advanceTimersByTime(ms));
    return seen.at(-1);
  };
  expect(show(false, 'a')).toBe(false);
  expect(show(true, 'a')).toBe(false);
  expect(after(1999)).toBe(false);
  expect(after(1)).toBe(true);
  expect(show(false, 'a')).toBe(false);
  expect(show(true, 'a')).toBe(false);
  expect(show(true, 'b')).toBe(true);
  act(() => root.unmount());
  vi.useRealTimers();
  vi.unstubAllGlobals();
});
