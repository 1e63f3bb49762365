import { Button } from '@mantine/core';
import type { TFunction } from 'i18next';
import type { MaintenanceWindow, Me } from '../../api/types.ts';
import { reaches } from '../../lib/rights.ts';
import { visible } from '../../lib/visible.ts';
import { column, type Columns } from '../../parts/DataTable.tsx';
import type { IconName } from '../../parts/icons.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import type { StatusTone } from '../../parts/statusLooks.ts';
import { RelativeTime } from '../../parts/TimeText.tsx';
import { ToneBadge } from '../../parts/ToneBadge.tsx';

/** Sign and colour of each state. */
const looks: Record<MaintenanceWindow['state'], { icon: IconName; tone: StatusTone }> = {
  open: { icon: 'clock', tone: 'warn' },
  planned: { icon: 'calendar', tone: 'live' },
  over: { icon: 'check', tone: 'idle' },
};

interface Acts {
  me: Me;
  onEdit: (window: MaintenanceWindow) => void;
  onEnd: (window: MaintenanceWindow) => void;
  onDelete: (window: MaintenanceWindow) => void;
}

/** Reports whether the user may change a window: an operator of its groups, or of all if it affects more. */
export function mayChange(me: Pick<Me, 'role' | 'groups'>, window: MaintenanceWindow): boolean {
  const wide = window.everything || window.selector || (window.workers?.length ?? 0) > 0;
  return wide ? reaches({ role: me.role }, 'operator') : (window.groups ?? []).every((group) => reaches(me, 'operator', group));
}

function scopeText(t: TFunction, { everything, groups, selector, workers }: MaintenanceWindow): string {
  return [
    ...(everything ? [t('maintenance.allJobs')] : []),
    ...(groups?.length ? [t('maintenance.ofGroups', { groups: groups.map((group) => (group === '' ? t('maintenance.noneGroup') : visible(group))).join(', ') })] : []),
    ...(selector ? [visible(selector)] : []),
    ...(workers?.length ? [t('maintenance.ofWorkers', { workers: workers.map(visible).join(', ') })] : []),
  ].join(' · ');
}

export function windowColumns(t: TFunction, { me, onEdit, onEnd, onDelete }: Acts): Columns<MaintenanceWindow> {
  return [
    column<MaintenanceWindow>('name', t('maintenance.name'), ({ name, note }) => (
      <>
        <strong className="break">{visible(name)}</strong>
        {note && <div className="small dim"><PlainText>{note}</PlainText></div>}
      </>
    )),
    column<MaintenanceWindow>('state', t('maintenance.state'), ({ state }) => <ToneBadge {...looks[state]}>{t(`maintenance.states.${state}`)}</ToneBadge>),
    column<MaintenanceWindow>('from', t('maintenance.from'), ({ openings, from }) => ((openings[0]?.from ?? from) ? <RelativeTime at={(openings[0]?.from ?? from)!} /> : null)),
    column<MaintenanceWindow>('to', t('maintenance.to'), ({ openings, to }) => ((openings[0]?.to ?? to) ? <RelativeTime at={(openings[0]?.to ?? to)!} /> : null)),
    column<MaintenanceWindow>('scope', t('maintenance.affects'), (window) => <span className="break">{scopeText(t, window)}</span>),
    column<MaintenanceWindow>('policy', t('maintenance.policy'), ({ policy, workers, everything, groups, selector }) =>
      workers?.length && !everything && !groups?.length && !selector ? null : <>{t(`maintenance.short.${policy ?? 'hold'}`)}</>),
    column<MaintenanceWindow>('actions', t('common.actions'), (window) => {
      if (!mayChange(me, window)) return null;
      const name = visible(window.name);
      return (
        <span className="spaced">
          {window.state === 'open' && window.cronExpr === undefined && <Button size="compact-sm" variant="subtle" aria-label={t('maintenance.endOf', { name })} onClick={() => onEnd(window)}>{t('maintenance.end')}</Button>}
          {window.state !== 'over' && <Button size="compact-sm" variant="subtle" aria-label={t('maintenance.editOf', { name })} onClick={() => onEdit(window)}>{t('maintenance.edit')}</Button>}
          <Button size="compact-sm" variant="subtle" color="red" aria-label={t('maintenance.deleteOf', { name })} onClick={() => onDelete(window)}>{t('maintenance.delete')}</Button>
        </span>
      );
    }),
  ];
}
