import { Button, Loader, Menu } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { BulkAction } from '../../api/bulk.ts';
import { Icon } from '../../parts/icons.tsx';
import classes from './SelectionBar.module.css';

interface Props {
  count: number;
  /** Number of jobs that match the filter, and whether all of them can be selected. */
  total: number;
  mostAtOnce: number;
  gathering: boolean;
  mayRun: boolean;
  mayEdit: boolean;
  /** Where the table shows no head. */
  onSelectAll: (() => void) | undefined;
  onClear: () => void;
  onAct: (action: BulkAction) => void;
  onSettings: () => void;
  /** Undefined while an export is in progress. */
  onExport: (() => void) | undefined;
}

/** The actions on the selected jobs. */
export function SelectionBar({ count, total, mostAtOnce, gathering, mayRun, mayEdit, onSelectAll, onClear, onAct, onSettings, onExport }: Props) {
  const { t, i18n } = useTranslation();
  const number = (n: number) => new Intl.NumberFormat(i18n.language).format(n);
  return (
    <div className={classes.bar} role="region" aria-label={t('jobs.selection')}>
      <div className={classes.count}>
        <strong role="status">{t('jobs.selected', { count, number: number(count) })}</strong>
        {onSelectAll && count < Math.min(total, mostAtOnce) && !gathering && <Button variant="subtle" size="compact-sm" onClick={onSelectAll}>{t('jobs.selectAll', { count: total })}</Button>}
        {gathering && <Loader size="xs" aria-label={t('jobs.selecting')} />}
        {count < total && total > mostAtOnce && <span className="small dim">{t('jobs.selectMost', { number: number(mostAtOnce) })}</span>}
        <Button variant="subtle" size="compact-sm" color="gray" className={classes.clear} aria-label={t('jobs.selectNone')} onClick={onClear}><span className={classes.cross}><Icon name="close" size={16} /></span><span className={classes.word}>{t('jobs.selectNone')}</span></Button>
      </div>
      <div className={classes.acts}>
        {mayRun && <Button size="xs" leftSection={<Icon name="play" size={14} />} onClick={() => onAct('run')}>{t('jobs.bulk.run.verb')}</Button>}
        {mayRun && <Button size="xs" variant="default" leftSection={<Icon name="pause" size={14} />} onClick={() => onAct('pause')}>{t('jobs.bulk.pause.verb')}</Button>}
        {mayEdit && <Button size="xs" variant="default" leftSection={<Icon name="pencil" size={14} />} onClick={onSettings}>{t('jobs.settings')}</Button>}
        <Menu position="top-end">
          <Menu.Target><Button size="xs" variant="default" rightSection={<Icon name="down" size={12} />}>{t('jobs.more')}</Button></Menu.Target>
          <Menu.Dropdown>
            {mayRun && <Menu.Item leftSection={<Icon name="play" size={16} />} onClick={() => onAct('resume')}>{t('jobs.bulk.resume.verb')}</Menu.Item>}
            {mayRun && <Menu.Item leftSection={<Icon name="stop" size={16} />} onClick={() => onAct('kill')}>{t('jobs.bulk.kill.verb')}</Menu.Item>}
            <Menu.Item leftSection={<Icon name="download" size={16} />} disabled={!onExport} onClick={onExport}>{t('jobs.export')}</Menu.Item>
            {mayEdit && <Menu.Item color="red" leftSection={<Icon name="trash" size={16} />} onClick={() => onAct('delete')}>{t('jobs.bulk.delete.verb')}</Menu.Item>}
          </Menu.Dropdown>
        </Menu>
      </div>
    </div>
  );
}
