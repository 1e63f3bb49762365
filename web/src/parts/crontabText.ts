import type { TFunction } from 'i18next';
import type { CrontabLine } from '../api/crontab.ts';
import { sentence, serverText } from './problemText.ts';

/** The sentence for a remark on a line of a crontab: the server's own words in English, a translation by code elsewhere. */
export function crontabText(t: TFunction, language: string, notice: NonNullable<CrontabLine['notices']>[number]): string {
  return (language === 'en' ? undefined : serverText(t, `crontab.${notice.code}`, { value: notice.value ?? '' })) ?? sentence(notice.text);
}
