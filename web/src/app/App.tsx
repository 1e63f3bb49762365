import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { QueryClientProvider, type QueryClient } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import type { i18n } from 'i18next';
import { useMemo } from 'react';
import { I18nextProvider } from 'react-i18next';
import type { Connectivity } from '../api/connectivity.ts';
import { theme } from '../theme/theme.ts';
import { ConnectivityContext } from '../parts/connectivity.ts';
import type { SsoReason } from '../lib/fragment.ts';
import type { createConsoleRouter } from './router.tsx';
import { SessionGate } from './SessionGate.tsx';

interface Props {
  loginCode: string | undefined;
  ssoReason: SsoReason | undefined;
  translator: i18n;
  connectivity: Connectivity;
  queryClient: QueryClient;
  router: ReturnType<typeof createConsoleRouter>;
}

export function App({ loginCode, ssoReason, translator, connectivity, queryClient, router }: Props) {
  // boot.js uses the same key and reads it before the first paint.
  const schemes = useMemo(() => localStorageColorSchemeManager({ key: 'carillon-color-scheme' }), []);
  return (
    <I18nextProvider i18n={translator}>
      <MantineProvider theme={theme} defaultColorScheme="auto" colorSchemeManager={schemes} withCssVariables={false} withGlobalClasses={false}>
        <ConnectivityContext value={connectivity}>
          <QueryClientProvider client={queryClient}>
            <SessionGate loginCode={loginCode} ssoReason={ssoReason}>
              <RouterProvider router={router} />
            </SessionGate>
          </QueryClientProvider>
        </ConnectivityContext>
      </MantineProvider>
    </I18nextProvider>
  );
}
