import { useTranslation } from 'react-i18next';
import type { Role } from '../../api/types.ts';
import { visible } from '../../lib/visible.ts';
import { RoleBadge } from './RoleBadge.tsx';

/** The roles of a user or token: global and in groups. */
export function Grants({ role, groups }: { role: Role | undefined; groups: Record<string, string> | undefined }) {
  const { t } = useTranslation();
  const inGroups = Object.entries(groups ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  if (!role && inGroups.length === 0) return <span className="dim">{t('access.noRole')}</span>;
  return (
    <span className="spaced">
      {role && <RoleBadge role={role} />}
      {inGroups.map(([group, in_]) => (
        <span key={group} className="nowrap small"><code>{visible(group)}</code> {t(`roles.${in_ as Role}`)}</span>
      ))}
    </span>
  );
}
