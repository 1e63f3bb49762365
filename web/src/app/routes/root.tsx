import { createRootRouteWithContext } from '@tanstack/react-router';
import { NotFoundPage } from '../NotFoundPage.tsx';
import { Shell } from '../Shell.tsx';

// Only the texts of this page and of the frame are loaded at the start.
const comesFirst = '/jobs';

/** The frame of every screen. */
export const root = createRootRouteWithContext<{ loadTexts: () => Promise<void> }>()({
  beforeLoad: ({ location, context }) => (location.pathname === comesFirst ? undefined : context.loadTexts()),
  component: Shell,
  notFoundComponent: NotFoundPage,
});
