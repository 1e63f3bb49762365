// A page that shows one part of the console's flows, as its address says: #part=graph&layers=20&width=50&theme=dark.

import '../../src/theme/styles.ts';
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { I18nextProvider } from 'react-i18next';
import { createTranslator, loadRest, setLanguage } from '../../src/i18n/index.ts';
import { theme } from '../../src/theme/theme.ts';
import { scene } from './scenes.tsx';

const wanted = new URLSearchParams(window.location.hash.slice(1));
const scheme = wanted.get('theme') === 'dark' ? 'dark' : 'light';
const translator = await createTranslator();
if (wanted.get('lang') === 'zh') await setLanguage(translator, 'zh');
await loadRest(translator);
const root = createRootRoute({ component: () => <main id="content">{scene(wanted)}</main> });
const router = createRouter({ routeTree: root, history: createMemoryHistory({ initialEntries: ['/'] }) });
createRoot(document.getElementById('root') as HTMLElement).render(
  <I18nextProvider i18n={translator}>
    <MantineProvider theme={theme} forceColorScheme={scheme} withCssVariables={false} withGlobalClasses={false}>
      <QueryClientProvider client={new QueryClient()}><RouterProvider router={router as never} /></QueryClientProvider>
    </MantineProvider>
  </I18nextProvider>,
);
