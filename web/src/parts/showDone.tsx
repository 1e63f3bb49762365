import { notifications } from '@mantine/notifications';
import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import type { FireResults } from '../api/failures.ts';
import { titled } from '../lib/jobTitle.ts';
import { visible } from '../lib/visible.ts';
import type { Failure } from './RerunList.tsx';

const linked = 5;

/** Shows that an action on failures was done, with links to the runs that it requested. */
export function showDone(t: TFunction, language: string, act: 'ack' | 'rerun', answer: FireResults, fires: readonly Failure[]): void {
  const runs = answer.items.flatMap(({ run, job }) => (run === undefined ? [] : [{ run, name: visible(titled({ name: job ?? '', title: fires.find((fire) => fire.job === job)?.jobTitle })) }]));
  const more = runs.length - linked;
  notifications.show({
    withBorder: true,
    closeButtonProps: { 'aria-label': t('common.close') },
    message: (
      <>
        {t(`failures.${act}.done`, { count: answer.done })}{' '}
        {runs.slice(0, linked).map(({ run, name }, i) => (
          <span key={run}>{i > 0 && (language.startsWith('zh') ? '、' : ', ')}<Link to="/runs/$id" params={{ id: run }}>{name}</Link></span>
        ))}
        {more > 0 && <> <Link to="/runs" search={{ cause: 'rerun' }}>{t('failures.rerun.more', { count: more })}</Link></>}
      </>
    ),
  });
}
