import { ActionIcon, Button, Menu } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useDeleteHook, useHooks, useRotateHook, useSaveHook } from '../../api/hooks.ts';
import type { Hook, Job } from '../../api/types.ts';
import { visible } from '../../lib/visible.ts';
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { showFailure } from '../../parts/showFailure.ts';
import { showNotice } from '../../parts/showNotice.ts';
import { RelativeTime } from '../../parts/TimeText.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { HookDialog, HookShownOnce } from './HookDialog.tsx';
import { withState } from './hookForm.ts';
import classes from './HooksPanel.module.css';

type Asked = { act: 'edit' | 'rotate' | 'delete'; hook: Hook };

/** The URLs that start the job without a token. */
export function HooksPanel({ job, mayEdit }: { job: Job; mayEdit: boolean }) {
  const { t } = useTranslation();
  const hooks = useHooks(job.name);
  const [asked, setAsked] = useState<Asked | 'new' | undefined>();
  const [shown, setShown] = useState<Hook | undefined>();
  const items = hooks.data?.items ?? [];
  const close = () => setAsked(undefined);
  const saved = (hook: Hook) => {
    close();
    if (hook.url !== undefined || hook.secret !== undefined) setShown(hook);
    else showNotice(t, t('hooks.saved', { name: visible(hook.name) }));
  };
  return (
    <Panel
      title={t('hooks.title')} help={t('hooks.help')}
      side={mayEdit && <Button size="xs" variant="default" leftSection={<Icon name="plus" size={14} />} onClick={() => setAsked('new')}>{t('hooks.new')}</Button>}
    >
      {hooks.error && !hooks.data && <ProblemNotice error={hooks.error} onRetry={() => void hooks.refetch()} />}
      {hooks.isPending && <Waiting rows={1} />}
      {hooks.data && items.length === 0 && <p className="small dim">{t('hooks.none')}</p>}
      {items.length > 0 && (
        <ul className={classes.list} aria-label={t('hooks.title')} data-hooks="">
          {items.map((hook) => <HookRow key={hook.name} job={job.name} hook={hook} mayEdit={mayEdit} onAsk={(act) => setAsked({ act, hook })} />)}
        </ul>
      )}
      {asked === 'new' && <HookDialog job={job} onSaved={saved} onClose={close} />}
      {asked !== undefined && asked !== 'new' && asked.act === 'edit' && <HookDialog job={job} hook={asked.hook} onSaved={saved} onClose={close} />}
      {asked !== undefined && asked !== 'new' && asked.act === 'rotate' && <Rotate job={job.name} hook={asked.hook} onSaved={saved} onClose={close} />}
      {asked !== undefined && asked !== 'new' && asked.act === 'delete' && <Delete job={job.name} hook={asked.hook} onClose={close} />}
      {shown && <HookShownOnce hook={shown} onClose={() => setShown(undefined)} />}
    </Panel>
  );
}

function HookRow({ job, hook, mayEdit, onAsk }: { job: string; hook: Hook; mayEdit: boolean; onAsk: (act: Asked['act']) => void }) {
  const { t, i18n } = useTranslation();
  const save = useSaveHook(job);
  const name = visible(hook.name);
  const toggle = () => save.mutate({ name: hook.name, definition: withState(hook, !hook.disabled), version: hook.version }, { onError: (error) => showFailure(t, i18n.language, error) });
  const params = Object.keys(hook.params ?? {});
  return (
    <li className={classes.row} data-hook={hook.name} data-disabled={hook.disabled ?? false}>
      <Icon name={hook.disabled ? 'pause' : 'link'} size={16} />
      <span className={`break ${classes.text}`}>
        <strong>{name}</strong>
        <span className="small dim">
          {[hook.disabled && t('hooks.disabled'), hook.signature ? t(`hooks.signatures.${hook.signature}`) : t('hooks.unsigned'), t('hooks.perMinute', { most: hook.rate })].filter(Boolean).join(' · ')}
        </span>
        {params.length > 0 && <span className="small dim">{t('hooks.sets', { params: params.map(visible).join(', ') })}</span>}
        <span className="small dim">{t(hook.rotatedAt ? 'hooks.rotatedAt' : 'hooks.createdAt')} <RelativeTime at={hook.rotatedAt ?? hook.createdAt} /></span>
      </span>
      {mayEdit && (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon variant="subtle" color="gray" size="lg" loading={save.isPending} aria-label={t('hooks.actionsFor', { name })}><Icon name="dots" /></ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item leftSection={<Icon name="pencil" size={16} />} onClick={() => onAsk('edit')}>{t('hooks.edit')}</Menu.Item>
            <Menu.Item leftSection={<Icon name="refresh" size={16} />} onClick={() => onAsk('rotate')}>{t('hooks.rotate')}</Menu.Item>
            <Menu.Item leftSection={<Icon name={hook.disabled ? 'play' : 'pause'} size={16} />} onClick={toggle}>{t(hook.disabled ? 'hooks.enable' : 'hooks.disable')}</Menu.Item>
            <Menu.Item color="red" leftSection={<Icon name="trash" size={16} />} onClick={() => onAsk('delete')}>{t('hooks.delete')}</Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
    </li>
  );
}

function Rotate({ job, hook, onSaved, onClose }: { job: string; hook: Hook; onSaved: (hook: Hook) => void; onClose: () => void }) {
  const { t } = useTranslation();
  const rotate = useRotateHook(job);
  return (
    <ConfirmDialog title={t('hooks.rotateTitle', { name: visible(hook.name) })} confirm={t('hooks.rotateConfirm')} busy={rotate.isPending} error={rotate.error} onConfirm={() => rotate.mutate({ name: hook.name, secret: false }, { onSuccess: onSaved })} onCancel={onClose}>
      <p>{t('hooks.rotateText')}</p>
    </ConfirmDialog>
  );
}

function Delete({ job, hook, onClose }: { job: string; hook: Hook; onClose: () => void }) {
  const { t } = useTranslation();
  const remove = useDeleteHook(job);
  const name = visible(hook.name);
  const confirm = () => remove.mutate({ name: hook.name }, {
    onSuccess: () => {
      showNotice(t, t('hooks.deleted', { name }));
      onClose();
    },
  });
  return (
    <ConfirmDialog title={t('hooks.deleteTitle', { name })} confirm={t('hooks.deleteConfirm')} busy={remove.isPending} error={remove.error} onConfirm={confirm} onCancel={onClose}>
      <p>{t('hooks.deleteText')}</p>
    </ConfirmDialog>
  );
}
