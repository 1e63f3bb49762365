import type { TFunction } from 'i18next';
import type { CrontabLine } from '../api/crontab.ts';
import { sentence, serverText } from './problemText.ts';

/**
 * Returns the text of a remark on a crontab line: the server's own words in English, a translation by code otherwise.
 * Flags of cronctl are replaced by the console's switches.
 */
export function crontabText(t: TFunction, language: string, notice: NonNullable<CrontabLine['notices']>[number]): string {
  if (notice.code === 'system_format') return t('crontabRemarks.systemFormat', { option: t('crontab.system') });
  return (language === 'en' ? undefined : serverText(t, `crontab.${notice.code}`, { value: notice.value ?? '' })) ?? sentence(notice.text);
}
