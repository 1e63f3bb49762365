import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { watchLostFailures } from '../api/lostFailures.ts';
import { Problem } from '../api/problem.ts';

/** Shows failures of changes whose dialog was closed before the answer. */
export function useLostFailures(): void {
  const { t, i18n } = useTranslation();
  const cache = useQueryClient().getMutationCache();
  useEffect(
    () =>
      watchLostFailures(cache, (error) => {
        if (error instanceof Problem && error.status === 401) return; // the login page says so
        void import('../parts/showFailure.ts').then(({ showFailure }) => showFailure(t, i18n.language, error));
      }),
    [cache, t, i18n],
  );
}
