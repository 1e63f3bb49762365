import { Button } from '@mantine/core';
import type { TFunction } from 'i18next';
import type { Me, Pool } from '../../api/types.ts';
import { reaches } from '../../lib/rights.ts';
import { visible } from '../../lib/visible.ts';
import { column, type Columns } from '../../parts/DataTable.tsx';
import { Meter } from '../../parts/Meter.tsx';

interface Acts {
  me: Me;
  /** The pool whose details are shown, and a function to toggle them. */
  open: string | undefined;
  onToggle: (name: string) => void;
  onEdit: (pool: Pool) => void;
  onDelete: (pool: Pool) => void;
}

export function poolColumns(t: TFunction, acts: Acts): Columns<Pool> {
  return [
    column<Pool>('name', t('pools.name'), ({ name }) => <strong className="break">{visible(name)}</strong>),
    column<Pool>('usage', t('pools.usage'), ({ name, used, slots }) => (
      <>
        <span>{t('pools.usedOf', { used, slots })}</span>
        <Meter value={used} max={slots} label={t('pools.usageOf', { name: visible(name) })} />
      </>
    )),
    column<Pool>('waiting', t('pools.waiting'), ({ waiting }) => <>{waiting}</>),
    column<Pool>('jobs', t('pools.jobs'), ({ jobs }) => <>{jobs}</>),
    column<Pool>('group', t('pools.group'), ({ group }) => (group ? <span className="break">{visible(group)}</span> : null)),
    column<Pool>('actions', t('common.actions'), (pool) => {
      const name = visible(pool.name);
      return (
        <span className="spaced">
          <Button size="compact-sm" variant="subtle" aria-expanded={acts.open === pool.name} aria-label={t('pools.detailsOf', { name })} onClick={() => acts.onToggle(pool.name)}>{t('pools.details')}</Button>
          {reaches(acts.me, 'editor', pool.group ?? '') && (
            <>
              <Button size="compact-sm" variant="subtle" aria-label={t('pools.editOf', { name })} onClick={() => acts.onEdit(pool)}>{t('pools.edit')}</Button>
              <Button size="compact-sm" variant="subtle" color="red" aria-label={t('pools.deleteOf', { name })} onClick={() => acts.onDelete(pool)}>{t('pools.delete')}</Button>
            </>
          )}
        </span>
      );
    }),
  ];
}
