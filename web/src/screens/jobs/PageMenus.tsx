import { ActionIcon, Button, Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Icon } from '../../parts/icons.tsx';
import { columnIds, type ColumnId } from './columns.ts';
import classes from './JobsPage.module.css';

/** The ways to create a job; a single icon on a phone. */
export function NewMenu({ brief, onImport }: { brief: boolean; onImport: () => void }) {
  const { t } = useTranslation();
  return (
    <span className={classes.split}>
      <Button className={brief ? classes.new : undefined} aria-label={t('jobs.new')} renderRoot={(props) => <Link to="/new/job" {...props} />} leftSection={<Icon name="plus" size={16} />}><span className={classes.newWord}>{t('jobs.new')}</span></Button>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="filled" size={36} aria-label={t('jobs.newMore')}><Icon name="down" size={14} /></ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Icon name="calendar" size={16} />} onClick={onImport}>{t('jobs.import')}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </span>
  );
}

interface ViewProps {
  shown: readonly ColumnId[];
  onShown: (shown: ColumnId[]) => void;
  onExport: (() => void) | undefined;
  onSave: (() => void) | undefined;
}

/** Choice of columns, and actions on the whole list. */
export function ViewMenu({ shown, onShown, onExport, onSave }: ViewProps) {
  const { t } = useTranslation();
  const toggle = (id: ColumnId) => onShown(shown.includes(id) ? shown.filter((other) => other !== id) : columnIds.filter((other) => other === id || shown.includes(other)));
  const names = { group: 'group', labels: 'labels', schedule: 'schedule', results: 'results', last: 'lastFire', next: 'nextFire', p95: 'p95', success: 'success', updated: 'updated' } as const;
  return (
    <Menu position="bottom-end" closeOnItemClick={false}>
      <Menu.Target>
        <ActionIcon variant="default" size={36} aria-label={t('jobs.view')} title={t('jobs.view')}><Icon name="gear" /></ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t('jobs.columns')}</Menu.Label>
        {columnIds.map((id) => (
          <Menu.Item key={id} renderRoot={(props) => <button {...props} role="menuitemcheckbox" aria-checked={shown.includes(id)} />} leftSection={<span className={classes.tick}>{shown.includes(id) && <Icon name="check" size={14} />}</span>} onClick={() => toggle(id)}>
            {t(`jobs.${names[id]}`)}
          </Menu.Item>
        ))}
        <Menu.Label className={classes.hint}>{t('jobs.columnsHint')}</Menu.Label>
        {(onExport ?? onSave) && <Menu.Divider />}
        {onSave && <Menu.Item closeMenuOnClick leftSection={<Icon name="plus" size={16} />} onClick={onSave}>{t('jobs.saveFilter')}</Menu.Item>}
        {onExport && <Menu.Item closeMenuOnClick leftSection={<Icon name="download" size={16} />} onClick={onExport}>{t('jobs.exportAll')}</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  );
}
