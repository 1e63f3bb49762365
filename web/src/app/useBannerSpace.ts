import { useEffect, useRef } from 'react';

// What is shown first belongs to the page that opens.
const openingMs = 3000;

/**
 * Keeps a page where it is when a banner appears above it. Sticky elements of the page stay below the banners by
 * `--banners`. A browser corrects the scroll position itself, but not at the top of a page, and a click there would hit
 * what moved under the pointer.
 */
export function useBannerSpace() {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const banners = ref.current;
    if (!banners) return;
    const openedAt = performance.now();
    let before = 0;
    const observer = new ResizeObserver(() => {
      const height = banners.offsetHeight;
      document.documentElement.style.setProperty('--banners', `${height}px`);
      const opening = performance.now() - openedAt < openingMs;
      // A banner that does not stick would be scrolled out of sight.
      const sticks = getComputedStyle(banners).position === 'sticky';
      if (height > before && !opening && sticks && window.scrollY === 0) window.scrollBy({ top: height - before, behavior: 'instant' });
      before = height;
    });
    observer.observe(banners);
    return () => observer.disconnect();
  }, []);
  return ref;
}
