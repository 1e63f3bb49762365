import { ActionIcon, Menu, useMantineColorScheme, type MantineColorScheme } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useLogout } from '../api/session.ts';
import type { Role } from '../api/types.ts';
import { languages, setLanguage, type Language } from '../i18n/index.ts';
import { visible } from '../lib/visible.ts';
import { Icon, type IconName } from '../parts/icons.tsx';
import { useSession } from './session.ts';

const schemes: { value: MantineColorScheme; icon: IconName; label: 'settings.light' | 'settings.dark' | 'settings.system' }[] = [
  { value: 'light', icon: 'sun', label: 'settings.light' },
  { value: 'dark', icon: 'moon', label: 'settings.dark' },
  { value: 'auto', icon: 'screen', label: 'settings.system' },
];

export function ThemeMenu() {
  const { t } = useTranslation();
  // Without keepTransitions a style element would be injected at each change.
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('settings.theme')}>
          <Icon name={schemes.find((s) => s.value === colorScheme)?.icon ?? 'screen'} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {schemes.map(({ value, icon, label }) => (
          <Menu.Item key={value} leftSection={<Icon name={icon} size={16} />} rightSection={value === colorScheme && <Icon name="check" size={14} />} onClick={() => setColorScheme(value)}>
            {t(label)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

export function LanguageMenu() {
  const { t, i18n } = useTranslation();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('settings.language')}>
          <Icon name="globe" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {(Object.keys(languages) as Language[]).map((language) => (
          <Menu.Item key={language} lang={language} rightSection={i18n.language === language && <Icon name="check" size={14} />} onClick={() => void setLanguage(i18n, language)}>
            {languages[language]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

export function AccountMenu() {
  const { t } = useTranslation();
  const me = useSession();
  const logout = useLogout();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('settings.account')}>
          <Icon name="user" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <span className="break">{t('settings.signedInAs', { subject: visible(me.name) })}</span>
          <br />
          {me.role ? t(`roles.${me.role}`) : t('roles.none')}
          {Object.entries(me.groups ?? {}).map(([group, role]) => (
            <div key={group} className="break">{t('roles.inGroup', { group, role: t(`roles.${role as Role}` as const) })}</div>
          ))}
        </Menu.Label>
        <Menu.Item leftSection={<Icon name="out" size={16} />} onClick={() => logout.mutate()}>
          {t('settings.signOut')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
