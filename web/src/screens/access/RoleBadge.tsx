import { useTranslation } from 'react-i18next';
import type { Role } from '../../api/types.ts';
import classes from './access.module.css';

/** A role; admin is highlighted. */
export function RoleBadge({ role }: { role: Role }) {
  const { t } = useTranslation();
  return <span className={classes.role} data-role={role} title={t(`access.roleHelp.${role}`)}>{t(`roles.${role}`)}</span>;
}
