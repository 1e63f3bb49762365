import { useEffect, useRef } from 'react';
import { isTyping } from '../../lib/shortcuts.ts';

export type LogKeys = Partial<Record<'f' | 'w' | 'e' | 't' | 'n' | 'N' | 'G' | 'Escape', () => void>>;

/**
 * Single keys of the log. They take precedence over the page's shortcuts; keys without an effect here are passed on.
 */
export function useLogKeys(keys: LogKeys): void {
  const latest = useRef(keys);
  useEffect(() => {
    latest.current = keys;
  });
  useEffect(() => {
    let before = '';
    const onKey = (event: KeyboardEvent) => {
      const act = latest.current[event.key as keyof LogKeys];
      const second = before === 'g';
      before = event.key;
      if (!act || second || isTyping(event) || event.defaultPrevented || document.querySelector('[role=dialog], [role=menu]')) return;
      event.preventDefault();
      event.stopPropagation();
      act();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
