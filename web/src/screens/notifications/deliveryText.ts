import type { TFunction } from 'i18next';
import type { Delivery } from '../../api/types.ts';
import { serverText } from '../../parts/problemText.ts';

/** How a run ended, from the values of a headline. */
function howText(t: TFunction, { how = '', exit, signal }: Record<string, string>): string {
  const detail = exit === undefined ? signal : serverText(t, 'notices.exit', { code: exit });
  return (serverText(t, `hows.${how}`) ?? how) + (detail === undefined ? '' : `（${detail}）`);
}

/** The numbers of a digest. */
function partsText(t: TFunction, data: Record<string, string>): string {
  return ['trouble', 'recovered', 'printed'].filter((part) => Number(data[part] ?? 0) > 0).map((part) => serverText(t, `digests.${part}`, { count: data[part] ?? '' })).join('，');
}

/** Returns a notification in one line: the server's own words in English, a translation by its code otherwise. */
export function deliveryText(t: TFunction, language: string, { text, headline }: Pick<Delivery, 'text'> & { headline?: Delivery['headline'] | undefined }): string {
  if (language === 'en' || headline === undefined) return text;
  const { code, data = {} } = headline;
  const { job = '', backfill, worker, flapping } = data;
  const words = serverText(t, `notices.${code}`, {
    ...data, job: (backfill && serverText(t, 'notices.backfill', { job })) || job, ...(data.how && { how: howText(t, data) }), ...(code === 'digest' && { parts: partsText(t, data) }),
  });
  if (words === undefined) return text;
  return [words, worker && serverText(t, 'notices.on', { worker }), flapping && serverText(t, 'notices.flapping')].filter(Boolean).join('；');
}
