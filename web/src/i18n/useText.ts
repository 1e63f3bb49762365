import type { i18n, TFunction } from 'i18next';
import { use, useCallback, useSyncExternalStore } from 'react';
import { I18nContext } from 'react-i18next';

/**
 * Like useTranslation, for components with hundreds of instances on a page: useTranslation copies the translator for
 * each instance, which is most of the cost of a table row. If t is a dependency of a hook, language must be one, too.
 */
export function useText(): { t: TFunction; language: string } {
  const { i18n } = use(I18nContext) as { i18n: i18n };
  const subscribe = useCallback(
    (changed: () => void) => {
      i18n.on('languageChanged', changed);
      return () => i18n.off('languageChanged', changed);
    },
    [i18n],
  );
  return { t: i18n.t, language: useSyncExternalStore(subscribe, () => i18n.language) };
}
