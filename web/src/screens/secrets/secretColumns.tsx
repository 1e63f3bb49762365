import { ActionIcon, Menu } from '@mantine/core';
import type { TFunction } from 'i18next';
import type { Me, Secret } from '../../api/types.ts';
import { visible } from '../../lib/visible.ts';
import { actorText } from '../../parts/actorText.ts';
import { column, type Columns } from '../../parts/DataTable.tsx';
import { Icon } from '../../parts/icons.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { RelativeTime } from '../../parts/TimeText.tsx';
import { UsedByButton } from '../../parts/UsedByJobs.tsx';
import { mayKeep } from './secretForm.ts';
import classes from './secrets.module.css';

interface Acts {
  me: Me;
  /** The secret whose jobs are shown, and a function to toggle it. */
  open: string | undefined;
  onToggle: (name: string) => void;
  onEdit: (secret: Secret) => void;
  onDelete: (secret: Secret) => void;
}

export function secretColumns(t: TFunction, acts: Acts): Columns<Secret> {
  return [
    column<Secret>('name', t('secrets.name'), ({ name, description }) => (
      <>
        <strong className="break">{visible(name)}</strong>
        {description && <div className="small dim"><PlainText>{description}</PlainText></div>}
      </>
    )),
    column<Secret>('groups', t('secrets.groups'), ({ groups }) => (groups.length === 0 ? <span className="dim">{t('secrets.allGroups')}</span> : (
      <span className="spaced">{groups.map((group) => <code key={group} className="break">{visible(group)}</code>)}</span>
    ))),
    column<Secret>('jobs', t('secrets.jobs'), ({ name, jobs }) => <UsedByButton count={jobs} open={acts.open === name} onToggle={() => acts.onToggle(name)} />),
    column<Secret>('set', t('secrets.set'), ({ setAt }) => <RelativeTime at={setAt} />),
    column<Secret>('updated', t('secrets.updated'), ({ updatedAt, updatedBy }) => (
      <><RelativeTime at={updatedAt} /> {updatedBy && <span className="small dim">{t('secrets.by', { who: actorText(t, updatedBy) })}</span>}</>
    ), false),
    column<Secret>('actions', t('common.actions'), (secret) => <ActionsCell t={t} secret={secret} acts={acts} />),
  ];
}

function ActionsCell({ t, secret, acts }: { t: TFunction; secret: Secret; acts: Acts }) {
  if (!mayKeep(acts.me, secret.groups)) return null;
  return (
    <div className={classes.actions}>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('secrets.actionsFor', { name: visible(secret.name) })}><Icon name="dots" /></ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Icon name="pencil" size={16} />} onClick={() => acts.onEdit(secret)}>{t('secrets.replace')}</Menu.Item>
          <Menu.Item color="red" leftSection={<Icon name="trash" size={16} />} onClick={() => acts.onDelete(secret)}>{t('secrets.delete')}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}
