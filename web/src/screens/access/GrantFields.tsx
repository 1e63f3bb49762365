import { ActionIcon, Autocomplete, Button, NativeSelect } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useGroupNames } from '../../api/names.ts';
import type { Role } from '../../api/types.ts';
import { roles } from '../../api/users.ts';
import { Icon } from '../../parts/icons.tsx';
import classes from './access.module.css';
import type { GrantRow } from './userForm.ts';

/** The roles of a user in groups. */
export function GrantFields({ rows, error, onChange }: { rows: GrantRow[]; error: string | undefined; onChange: (rows: GrantRow[]) => void }) {
  const { t } = useTranslation();
  const groupNames = useGroupNames();
  const change = (at: number, part: Partial<GrantRow>) => onChange(rows.map((row, i) => (i === at ? { ...row, ...part } : row)));
  return (
    <fieldset className={classes.grants}>
      <legend className={classes.legend}>{t('access.groups')}</legend>
      <span className="small dim">{t('access.groupsHelp')}</span>
      {rows.map((row, i) => (
        <div key={i} className={classes.grant}>
          <Autocomplete aria-label={t('access.groupOf', { n: i + 1 })} placeholder={t('access.group')} data={[...groupNames]} limit={50} value={row.group} spellCheck={false} autoCapitalize="none" onChange={(group) => change(i, { group })} />
          <NativeSelect aria-label={t('access.groupRoleOf', { n: i + 1 })} value={row.role} data={roles.map((value) => ({ value, label: t(`roles.${value}`) }))} onChange={(e) => change(i, { role: e.currentTarget.value as Role })} />
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('access.removeGroup', { n: i + 1 })} onClick={() => onChange(rows.filter((_, at) => at !== i))}><Icon name="close" size={16} /></ActionIcon>
        </div>
      ))}
      <div><Button size="xs" variant="default" leftSection={<Icon name="plus" size={14} />} onClick={() => onChange([...rows, { group: '', role: 'viewer' }])}>{t('access.addGroup')}</Button></div>
      {error && <p className={classes.error} role="alert">{error}</p>}
    </fieldset>
  );
}
