import { useTranslation } from 'react-i18next';
import { useLock } from '../../api/locks.ts';
import { visible } from '../../lib/visible.ts';
import { PlainText } from '../../parts/PlainText.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { RelativeTime } from '../../parts/TimeText.tsx';
import { Waiting } from '../../parts/Waiting.tsx';

/** The owner of a lock, from whom it was taken over, and its queue. */
export function LockDetails({ name }: { name: string }) {
  const { t } = useTranslation();
  const lock = useLock(name);
  if (lock.error && !lock.data) return <ProblemNotice error={lock.error} onRetry={() => void lock.refetch()} />;
  if (!lock.data) return <Waiting rows={2} />;
  const { owner, tookOver, queue, waiting, state } = lock.data;
  return (
    <div className="small">
      {owner && <p>{t('locks.terms', { fence: owner.fence, ttl: owner.ttl, grace: owner.grace })}</p>}
      {owner && state === 'grace' && <p>{t('locks.graceText', { grace: owner.grace })}</p>}
      {owner?.note && <p>{t('locks.note')} <PlainText>{owner.note}</PlainText></p>}
      {tookOver && (
        <p>
          {t('locks.tookOver', { id: visible(tookOver.id), fence: tookOver.fence })} <RelativeTime at={tookOver.at} />
          {tookOver.note && <> · {t('locks.note')} <PlainText>{tookOver.note}</PlainText></>}
        </p>
      )}
      {waiting === 0 ? <p className="dim">{t('locks.noQueue')}</p> : (
        <ol aria-label={t('locks.queueOf', { name: visible(name) })}>
          {queue.map(({ id, since }, at) => <li key={`${at} ${id}`}><span className="break">{visible(id)}</span> <RelativeTime at={since} /></li>)}
        </ol>
      )}
      {waiting > queue.length && <p className="dim">{t('locks.moreWaiting', { count: waiting - queue.length })}</p>}
    </div>
  );
}
