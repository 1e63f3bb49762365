import { useTranslation } from 'react-i18next';
import type { Run } from '../api/types.ts';
import { formatTime, inFull } from '../lib/time.ts';
import { visible } from '../lib/visible.ts';

/** The pending kill request of a run: user, time and signal. */
export function EndingText({ ending }: { ending: NonNullable<Run['ending']> }) {
  const { t, i18n } = useTranslation();
  if (ending.code === 'replaced') return <span data-ending="">{t('ending.replaced')}</span>;
  return (
    <span className="break" data-ending={ending.signal} title={inFull(ending.at, i18n.language)}>
      {t('ending.asked', { who: visible(ending.by), signal: `SIG${ending.signal}`, when: formatTime(ending.at, i18n.language) })}
      {ending.note && <> <bdi>{visible(ending.note)}</bdi></>}
    </span>
  );
}

/** The kill request that ended the clean-up of a flow run. */
export function ForcedText({ forced }: { forced: NonNullable<Run['forced']> }) {
  const { t, i18n } = useTranslation();
  const who = visible(forced.by);
  return (
    <span className="break" data-forced="" {...(forced.at && { title: inFull(forced.at, i18n.language) })}>
      {forced.at ? t('ending.forced', { who, when: formatTime(forced.at, i18n.language) }) : t('ending.forcedBy', { who })}
      {forced.note && <> <bdi>{visible(forced.note)}</bdi></>}
    </span>
  );
}
