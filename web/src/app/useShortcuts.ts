import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { moveInList, submitDialog } from '../lib/listKeys.ts';
import { isTyping, press, pressWithMod, type Action, type Pending } from '../lib/shortcuts.ts';
import { pagesFor } from './pages.ts';
import { useCan, useSession } from '../parts/session.ts';

/** Handles the console's keyboard shortcuts. An open dialog gets all keys except the one that toggles the palette. */
export function useShortcuts(show: { help: () => void; palette: () => void }): void {
  const navigate = useNavigate();
  const me = useSession();
  const mayMake = useCan('editor');
  const pending = useRef<Pending | undefined>(undefined);
  const shown = useRef(show);
  useEffect(() => {
    shown.current = show;
  });
  useEffect(() => {
    const act = (action: Action): void => {
      if (action === 'help' || action === 'palette') return shown.current[action]();
      if (action === 'search') return document.querySelector<HTMLInputElement>('[data-search]')?.focus();
      if (action === 'next' || action === 'previous') return void moveInList(action === 'next' ? 1 : -1);
      if (action === 'new') return mayMake ? void navigate({ to: '/new/job' }) : undefined;
      const page = pagesFor(me).find(({ id }) => id === action);
      if (page) void navigate({ to: page.to });
    };
    const onKey = (event: KeyboardEvent) => {
      const dialogs = document.querySelectorAll('[role=dialog]');
      const held = pressWithMod(event);
      if (held === 'submit') {
        if (submitDialog(event.target)) event.preventDefault();
        return;
      }
      if (held) {
        // Not over another dialog.
        if ([...dialogs].some((dialog) => !dialog.querySelector('[data-palette]'))) return;
        event.preventDefault();
        return act(held);
      }
      if (dialogs.length > 0 || event.defaultPrevented || isTyping(event)) return;
      const pressed = press(event.key, Date.now(), pending.current);
      pending.current = pressed.pending;
      if (!pressed.action) return;
      event.preventDefault();
      act(pressed.action);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [navigate, me, mayMake]);
}
