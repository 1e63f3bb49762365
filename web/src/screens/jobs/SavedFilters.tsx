import { ActionIcon, Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useState, type FormEvent, type MouseEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { jobsAddress, type JobFilter } from '../../lib/jobFilter.ts';
import { visible } from '../../lib/visible.ts';
import { Icon } from '../../parts/icons.tsx';
import { isPlainClick } from '../../parts/PlainLink.tsx';
import classes from './FilterPanel.module.css';
import type { Saved } from './useSavedFilters.ts';

interface Props extends Pick<Saved, 'saved' | 'is' | 'forget'> {
  onChange: (filter: JobFilter) => void;
}

/** Named filters; each is a link, which can be shared. */
export function SavedFilters({ saved, is, forget, onChange }: Props) {
  const { t } = useTranslation();
  if (saved.length === 0) return null;
  const pick = (event: MouseEvent, wanted: JobFilter) => {
    if (!isPlainClick(event)) return;
    event.preventDefault();
    onChange(wanted);
  };
  return (
    <section className={classes.section} aria-label={t('jobs.saved')}>
      <h2 className={classes.name}>{t('jobs.saved')}</h2>
      <ul className={classes.list}>
        {saved.map((one) => (
          <li key={one.name} className={classes.line} data-saved={one.name}>
            <a href={jobsAddress(one.filter)} className={classes.option} aria-current={one === is ? 'true' : undefined} onClick={(event) => pick(event, one.filter)}>
              <Icon name="book" size={13} /><span className={classes.label}>{visible(one.name)}</span>
            </a>
            <ActionIcon variant="subtle" color="gray" size="sm" aria-label={t('jobs.forget', { name: one.name })} title={t('jobs.forget', { name: one.name })} onClick={() => forget(one)}>
              <Icon name="close" size={13} />
            </ActionIcon>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Asks for the name of a filter. */
export function NameDialog({ taken, onName, onClose }: { taken: readonly string[]; onName: (name: string) => void; onClose: () => void }) {
  const { t } = useTranslation();
  const [name, setName] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== '') onName(name.trim());
  };
  return (
    <Modal opened onClose={onClose} title={t('jobs.saveFilter')} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <form onSubmit={submit}>
        <Stack gap="md">
          <TextInput label={t('jobs.filterName')} description={taken.includes(name.trim()) ? t('jobs.filterTaken') : t('jobs.filterNameHelp')} required data-autofocus maxLength={60} value={name} onChange={(e) => setName(e.currentTarget.value)} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>{t('common.cancel')}</Button>
            <Button type="submit" disabled={name.trim() === ''}>{t('jobs.save')}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
