import type { i18n, TFunction } from 'i18next';
import { use, useCallback, useSyncExternalStore } from 'react';
import { I18nContext } from 'react-i18next';

/**
 * Like useTranslation, for components of which a page has hundreds: useTranslation copies the translator for each component that
 * uses it, which is most of what a row of a table costs. Where t is a dependency of a hook, language must be one, too.
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
