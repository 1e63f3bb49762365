import { useTranslation } from 'react-i18next';

/** Texts of the rows of variables. */
export function useEnvTexts() {
  const { t } = useTranslation();
  return {
    add: t('editor.envAdd'), name: t('editor.envName'), value: t('editor.envValue'), nameOf: (n: number) => t('editor.envNameOf', { n }), valueOf: (n: number) => t('editor.envValueOf', { n }),
    remove: (name: string) => (name ? t('editor.envRemove', { name }) : t('editor.envRemoveUnnamed')),
  };
}
