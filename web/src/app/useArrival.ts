import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { rememberVisit } from '../lib/visits.ts';
import { useSession } from '../parts/session.ts';

/** Where a page is about one thing, whose name its title has. */
const ofOneThing = /^\/(jobs|runs)\/[^/]+$/;

/** After a change of the page its heading has the focus, as with a page that is loaded; what was left is remembered. */
export function useArrival(): void {
  const router = useRouter();
  const { name } = useSession();
  useEffect(() => {
    const left = router.subscribe('onBeforeNavigate', ({ fromLocation, pathChanged }) => {
      if (!fromLocation || !pathChanged || !ofOneThing.test(fromLocation.pathname)) return;
      rememberVisit(name, { path: fromLocation.pathname, title: document.title.replace(/ · Carillon$/, '') });
    });
    const arrived = router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
      if (!fromLocation || !pathChanged) return;
      const content = document.getElementById('content');
      // Something on the page has taken it already, or a dialog has it.
      if (!content || document.querySelector('[role=dialog]') || (content !== document.activeElement && content.contains(document.activeElement))) return;
      const target = content.querySelector('h1') ?? content;
      target.tabIndex = -1;
      target.focus({ preventScroll: true });
    });
    return () => {
      left();
      arrived();
    };
  }, [router, name]);
}
