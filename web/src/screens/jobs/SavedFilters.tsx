import { ActionIcon, Button, Checkbox, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useState, type FormEvent, type MouseEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useDeleteView, useSaveView } from '../../api/views.ts';
import { jobsAddress, type JobFilter } from '../../lib/jobFilter.ts';
import { visible } from '../../lib/visible.ts';
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx';
import { Icon } from '../../parts/icons.tsx';
import { isPlainClick } from '../../parts/PlainLink.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { useCan } from '../../parts/session.ts';
import classes from './FilterPanel.module.css';
import { definitionOf, freshId, named, type SavedFilter } from './saved.ts';
import type { Saved } from './useSavedFilters.ts';

interface Props extends Pick<Saved, 'saved' | 'is'> {
  onChange: (filter: JobFilter) => void;
}

/** Named filters; each is a link, which can be sent to others. */
export function SavedFilters({ saved, is, onChange }: Props) {
  const { t } = useTranslation();
  const mayShare = useCan('editor');
  const [deleting, setDeleting] = useState<SavedFilter | undefined>();
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
          <li key={`${one.id} ${one.shared}`} className={classes.line} data-saved={one.name} data-shared={one.shared}>
            <a href={jobsAddress(one.filter)} className={classes.option} aria-current={one === is ? 'true' : undefined} title={one.shared ? t('jobs.sharedView') : undefined} onClick={(event) => pick(event, one.filter)}>
              <Icon name={one.shared ? 'globe' : 'book'} size={13} /><span className={classes.label}>{visible(one.name)}</span>
            </a>
            {(!one.shared || mayShare) && (
              <ActionIcon variant="subtle" color="gray" size={24} aria-label={t('jobs.forget', { name: visible(one.name) })} title={t('jobs.forget', { name: visible(one.name) })} onClick={() => setDeleting(one)}>
                <Icon name="close" size={13} />
              </ActionIcon>
            )}
          </li>
        ))}
      </ul>
      {deleting && <DeleteView view={deleting} onClose={() => setDeleting(undefined)} />}
    </section>
  );
}

function DeleteView({ view, onClose }: { view: SavedFilter; onClose: () => void }) {
  const { t } = useTranslation();
  const { mutate, isPending, error } = useDeleteView();
  return (
    <ConfirmDialog title={t('jobs.forgetTitle', { name: visible(view.name) })} confirm={t('jobs.forgetIt')} busy={isPending} error={error} onCancel={onClose} onConfirm={() => mutate(view, { onSuccess: onClose })}>
      {t(view.shared ? 'jobs.forgetShared' : 'jobs.forgetOwn')}
    </ConfirmDialog>
  );
}

/** Asks for the name of a filter, and saves it. */
export function NameDialog({ filter, saved, onClose }: { filter: JobFilter; saved: readonly SavedFilter[]; onClose: () => void }) {
  const { t } = useTranslation();
  const mayShare = useCan('editor');
  const [name, setName] = useState('');
  const [shared, setShared] = useState(false);
  const { mutate, isPending, error } = useSaveView();
  const wanted = name.trim();
  const replaced = named(saved, wanted, shared);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (wanted !== '') mutate({ id: replaced?.id ?? freshId(), definition: definitionOf(wanted, filter, shared) }, { onSuccess: onClose });
  };
  return (
    <Modal opened onClose={onClose} title={t('jobs.saveFilter')} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <form onSubmit={submit}>
        <Stack gap="md">
          <TextInput label={t('jobs.filterName')} description={replaced ? t('jobs.filterTaken') : t('jobs.filterNameHelp')} required data-autofocus maxLength={60} value={name} onChange={(e) => setName(e.currentTarget.value)} />
          {mayShare && <Checkbox label={t('jobs.share')} description={t('jobs.shareHelp')} checked={shared} onChange={(e) => setShared(e.currentTarget.checked)} />}
          {error && <ProblemNotice error={error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>{t('common.cancel')}</Button>
            <Button type="submit" disabled={wanted === ''} loading={isPending}>{t('jobs.save')}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
