import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { rememberVisit } from '../lib/visits.ts';
import { useSession } from '../parts/session.ts';

/** Pages of a single object, whose title contains its name. */
const ofOneThing = /^\/(jobs|runs)\/[^/]+$/;

/** Moves the focus to the heading after each navigation, as after a page load, and records the page as visited. */
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
      // An element of the page or a dialog already has the focus.
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
