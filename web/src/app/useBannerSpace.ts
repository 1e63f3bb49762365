import { useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

// What is shown first belongs to the page that opens.
const openingMs = 3000;

/**
 * Keeps a page where it is when a banner above it comes or goes: a click would hit what moved under the pointer. A banner
 * that comes covers the top of a page that is not scrolled; one that goes leaves its space until another page is opened.
 * Elsewhere the browser corrects the scroll position itself. Sticky elements of the page stay below the banners by
 * `--banners`. The refs are for the space and for the banners in it.
 */
export function useBannerSpace() {
  const space = useRef<HTMLDivElement>(null);
  const banners = useRef<HTMLDivElement>(null);
  const reserved = useRef(0);
  const page = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => {
    const [around, within] = [space.current, banners.current];
    if (!around || !within) return;
    const openedAt = performance.now();
    let before = 0;
    // Where banners do not stick, one that comes would be above the visible part of the page: it sticks until the top is reached.
    const release = () => window.scrollY === 0 && delete around.dataset.pinned;
    const observer = new ResizeObserver(() => {
      const height = within.offsetHeight;
      const opening = performance.now() - openedAt < openingMs;
      document.documentElement.style.setProperty('--banners', `${height}px`);
      // A banner is opened and closed by a click on it: its whole text has no space of its own.
      const whole = within.querySelector('[data-whole]') !== null;
      if (opening || (!whole && height > reserved.current)) reserve(around, height, reserved);
      const now = around.offsetHeight;
      if (now > before && !opening && window.scrollY === 0) {
        if (getComputedStyle(around).position !== 'sticky') around.dataset.pinned = '';
        window.scrollBy({ top: now - before, behavior: 'instant' });
      }
      before = now;
    });
    observer.observe(within);
    window.addEventListener('scroll', release, { passive: true });
    return () => {
      observer.disconnect();
      window.removeEventListener('scroll', release);
    };
  }, []);
  useEffect(() => {
    const [around, within] = [space.current, banners.current];
    if (!around || !within) return;
    delete around.dataset.pinned;
    reserve(around, within.offsetHeight, reserved);
  }, [page]);
  return { space, banners };
}

function reserve(space: HTMLElement, height: number, reserved: { current: number }) {
  space.style.minHeight = `${height}px`;
  reserved.current = height;
}
