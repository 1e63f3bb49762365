import { createRootRouteWithContext } from '@tanstack/react-router';
import { NotFoundPage } from '../NotFoundPage.tsx';
import { Shell } from '../Shell.tsx';

// Only what this page says, and what is around every page, is loaded at first.
const comesFirst = '/jobs';

/** What is around every screen. */
export const root = createRootRouteWithContext<{ loadTexts: () => Promise<void> }>()({
  beforeLoad: ({ location, context }) => (location.pathname === comesFirst ? undefined : context.loadTexts()),
  component: Shell,
  notFoundComponent: NotFoundPage,
});
