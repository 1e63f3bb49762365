import { ActionIcon, Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useLogout } from '../api/session.ts';
import type { Role } from '../api/types.ts';
import { useVersion } from '../api/version.ts';
import { changesPage } from '../lib/guide.ts';
import { forgetVisits } from '../lib/visits.ts';
import { visible } from '../lib/visible.ts';
import { Icon } from '../parts/icons.tsx';
import { useSession } from '../parts/session.ts';

/** Ends the session and clears the visited pages. */
export function useSignOut() {
  const logout = useLogout();
  return { ...logout, mutate: () => logout.mutate(undefined, { onSuccess: forgetVisits }) };
}

/** The signed-in user with its roles. */
export function AccountFacts() {
  const { t } = useTranslation();
  const me = useSession();
  const groups = Object.entries(me.groups ?? {});
  return (
    <>
      <span className="break">{t('settings.signedInAs', { subject: visible(me.name) })}</span>
      <br />
      {me.role ? t(`roles.${me.role}`) : groups.length > 0 ? t('roles.none') : t('roles.nothing')}
      {groups.map(([group, role]) => (
        <div key={group} className="break">{t('roles.inGroup', { group: visible(group), role: t(`roles.${role as Role}` as const) })}</div>
      ))}
    </>
  );
}

/** Links to the documentation, and the server's version. */
export function About({ onLeave, guide }: { onLeave: () => void; guide: boolean }) {
  const { t } = useTranslation();
  const version = useVersion();
  return (
    <span className="spaced">
      {version.data && <span className="break">{t('settings.version', { version: visible(version.data.version) })}</span>}
      {guide && <Link to="/guide" onClick={onLeave}>{t('help.guide')}</Link>}
      {guide && <Link to="/guide/$" params={{ _splat: changesPage }} onClick={onLeave}>{t('help.changes')}</Link>}
      <a href="/docs" target="_blank" rel="noreferrer">{t('settings.api')}</a>
    </span>
  );
}

export function AccountMenu() {
  const { t } = useTranslation();
  const signOut = useSignOut();
  return (
    <Menu position="right-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('settings.account')} title={t('settings.account')}>
          <Icon name="user" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label><AccountFacts /></Menu.Label>
        <Menu.Item leftSection={<Icon name="user" size={16} />} component={Link} to="/account">
          {t('settings.own')}
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="out" size={16} />} onClick={() => signOut.mutate()}>
          {t('settings.signOut')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
