import type { TFunction } from 'i18next';
import { serverText } from '../../parts/problemText.ts';

// The server's sentences about a job, by the key of their translation.
const sentences: readonly (readonly [key: string, form: RegExp])[] = [
  ['digest', /^after quiet hours: (?<parts>.+)$/],
  ['more_trouble', /^(?<count>\d+) more jobs? (?:is|are) in trouble$/],
  ['more_recovered', /^(?<count>\d+) more jobs? (?:has|have) recovered$/],
  ['more_output', /^(?<count>\d+) more jobs? (?:has|have) printed output$/],
  ['recovered', /^(?<job>.+) has recovered$/],
  ['lost', /^(?<job>.+) was lost with its worker$/],
  ['late', /^(?<job>.+) is late$/],
  ['slow', /^(?<job>.+) is running longer than usual$/],
  ['paused', /^(?<job>.+) was paused: it failed (?<count>\d+) times in a row$/],
  ['restarts', /^(?<job>.+) keeps restarting: (?<count>\d+) short runs in a row$/],
  ['raised', /^(?<job>.+) has been in trouble for (?<after>.+)$/],
  ['skipped', /^(?<job>.+) skips fires: (?<count>\d+) of its last (?<of>\d+)$/],
  ['approval', /^(?<job>.+) waits for approval of step (?<step>.+)$/],
  ['output', /^(?<job>.+) (?<how>succeeded|was lost|was not run|timed out|was refused|was killed|failed(?: \([^()]+\))?) and printed output$/],
  ['step_failed', /^(?<job>.+): a step failed$/],
  ['step', /^(?<job>.+): step (?<step>.+) (?<how>succeeded|was lost|was not run|timed out|was refused|was killed|failed(?: \([^()]+\))?)$/],
  ['ended', /^(?<job>.+) (?<how>succeeded|was lost|was not run|timed out|was refused|was killed|failed(?: \([^()]+\))?)$/],
];
const digest: readonly (readonly [key: string, form: RegExp])[] = [
  ['trouble', /^(?<count>\d+) jobs? (?:is|are) in trouble$/], ['recovered', /^(?<count>\d+) jobs? (?:has|have) recovered$/], ['printed', /^(?<count>\d+) jobs? (?:has|have) printed output$/],
];

function matched(t: TFunction, group: string, forms: typeof sentences, text: string): string | undefined {
  for (const [key, form] of forms) {
    const data = form.exec(text)?.groups;
    if (!data) continue;
    const parts = data.parts?.split(', ').map((part) => matched(t, 'digests', digest, part) ?? part).join('，');
    const how = data.how && (serverText(t, `hows.${data.how.replace(/ \(.*$/, '').replaceAll(' ', '_')}`, {}) ?? data.how) + (/ \((.*)\)$/.exec(data.how)?.[1]?.replace(/^(?:exit (?<code>\d+)|.*)$/, (all, code?: string) => `（${code === undefined ? all : (serverText(t, 'notices.exit', { code }) ?? all)}）`) ?? '');
    const backfilled = /^backfill of (.+)$/.exec(data.job ?? '')?.[1];
    const job = backfilled && serverText(t, 'notices.backfill', { job: backfilled });
    return serverText(t, `${group}.${key}`, { ...data, ...(job && { job }), ...(parts && { parts }), ...(how && { how }) });
  }
  return undefined;
}

/** Returns a notification in one line: the server's own words in English, a translation of its sentences otherwise. */
export function deliveryText(t: TFunction, language: string, text: string): string {
  if (language === 'en') return text;
  const [, said = text, , worker, flapping] = /^(.+?)( on ([a-zA-Z0-9._-]+))?(; it keeps failing and recovering)?$/.exec(text) ?? [];
  const words = matched(t, 'notices', sentences, said);
  if (words === undefined) return text;
  return [words, worker && serverText(t, 'notices.on', { worker }), flapping && serverText(t, 'notices.flapping', {})].filter(Boolean).join('；');
}
