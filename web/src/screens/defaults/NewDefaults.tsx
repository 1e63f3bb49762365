import { Autocomplete, Button, Group, Modal, SegmentedControl, Stack } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useGroupNames } from '../../api/names.ts';
import type { JobDefaults } from '../../api/types.ts';
import { allGroups, isGroup } from '../../lib/groups.ts';
import { useRights } from '../../parts/session.ts';

/** Chooses the group of new defaults; those that exist are opened. */
export function NewDefaults({ existing, onClose }: { existing: readonly JobDefaults[]; onClose: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const may = useRights();
  const names = useGroupNames();
  const mayAll = may('editor', '');
  const has = (group: string) => existing.some((one) => one.group === group);
  const [all, setAll] = useState(mayAll && !has(allGroups));
  const [name, setName] = useState('');
  const [tried, setTried] = useState(false);
  const group = all ? allGroups : name.trim();
  const fault = all || isGroup(group) ? undefined : t('defaults.groupInvalid');
  const denied = all || fault || may('editor', group) ? undefined : t('defaults.notEditor');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (fault || denied) return;
    onClose();
    void navigate({ to: '/defaults/edit', search: { group } });
  };
  return (
    <Modal opened onClose={onClose} title={t('defaults.newTitle')} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <form onSubmit={submit} noValidate autoComplete="off">
        <Stack gap="md">
          {mayAll && <SegmentedControl aria-label={t('defaults.newGroup')} value={all ? 'all' : 'group'} onChange={(value) => setAll(value === 'all')} data={[{ value: 'all', label: t('defaults.newAll') }, { value: 'group', label: t('defaults.newOne') }]} />}
          {!all && (
            <Autocomplete
              label={t('defaults.groupName')} description={t('defaults.groupHelp')} data={names.filter((one) => !has(one) && may('editor', one))} limit={50} value={name} error={tried ? (fault ?? denied) : undefined} required data-autofocus
              spellCheck={false} autoCapitalize="none" maxLength={128} onChange={setName}
            />
          )}
          {has(group) && <p className="small dim" role="status">{t('defaults.exists')}</p>}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>{t('common.cancel')}</Button>
            <Button type="submit">{t('defaults.next')}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
