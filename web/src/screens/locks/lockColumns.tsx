import { Button } from '@mantine/core';
import type { TFunction } from 'i18next';
import type { Lock, Me } from '../../api/types.ts';
import { reaches } from '../../lib/rights.ts';
import { visible } from '../../lib/visible.ts';
import { column, type Columns } from '../../parts/DataTable.tsx';
import { RelativeTime } from '../../parts/TimeText.tsx';
import { ToneBadge } from '../../parts/ToneBadge.tsx';
import { stateLooks } from './lockState.ts';

interface Acts {
  me: Me;
  /** The lock whose details are shown, and a function to toggle them. */
  open: string | undefined;
  onToggle: (name: string) => void;
  onRelease: (lock: Lock) => void;
}

export function lockColumns(t: TFunction, acts: Acts): Columns<Lock> {
  return [
    column<Lock>('name', t('locks.name'), ({ name }) => <strong className="break">{visible(name)}</strong>),
    column<Lock>('state', t('locks.state'), ({ state }) => <ToneBadge {...stateLooks[state]}>{t(`locks.states.${state}`)}</ToneBadge>),
    column<Lock>('owner', t('locks.owner'), ({ owner, state }) =>
      owner ? <span className={state === 'free' ? 'break dim' : 'break'}>{visible(owner.id)}</span> : null),
    column<Lock>('since', t('locks.since'), ({ owner, state }) => owner && <RelativeTime at={state === 'free' ? (owner.releasedAt ?? owner.since) : owner.since} />),
    column<Lock>('waiting', t('locks.waiting'), ({ waiting }) => <>{waiting}</>),
    column<Lock>('takeovers', t('locks.takeovers'), ({ takeovers }) => <>{takeovers}</>, false),
    column<Lock>('actions', t('common.actions'), (lock) => (
      <span className="spaced">
        <Button size="compact-sm" variant="subtle" aria-expanded={acts.open === lock.name} aria-label={t('locks.detailsOf', { name: visible(lock.name) })} onClick={() => acts.onToggle(lock.name)}>{t('locks.details')}</Button>
        {lock.state !== 'free' && reaches(acts.me, 'operator', lock.group) && (
          <Button size="compact-sm" variant="subtle" color="red" aria-label={t('locks.releaseOf', { name: visible(lock.name) })} onClick={() => acts.onRelease(lock)}>{t('locks.release')}</Button>
        )}
      </span>
    )),
  ];
}
