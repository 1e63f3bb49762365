import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { isTyping, press, type Pending } from '../lib/shortcuts.ts';

/** Listens for the console's keys while no dialog is open. */
export function useShortcuts(showHelp: () => void): void {
  const navigate = useNavigate();
  const pending = useRef<Pending | undefined>(undefined);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event) || document.querySelector('[role=dialog]')) return;
      const pressed = press(event.key, Date.now(), pending.current);
      pending.current = pressed.pending;
      if (!pressed.action) return;
      event.preventDefault();
      if (pressed.action === 'help') showHelp();
      else if (pressed.action === 'search') document.querySelector<HTMLInputElement>('[data-search]')?.focus();
      else void navigate({ to: `/${pressed.action}` });
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [navigate, showHelp]);
}
