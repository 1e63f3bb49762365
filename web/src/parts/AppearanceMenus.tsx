import { ActionIcon, Menu, useMantineColorScheme, type MantineColorScheme } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { languages, setLanguage, type Language } from '../i18n/index.ts';
import { Icon, type IconName } from './icons.tsx';

export const schemes: readonly { value: MantineColorScheme; icon: IconName; label: 'settings.light' | 'settings.dark' | 'settings.system' }[] = [
  { value: 'light', icon: 'sun', label: 'settings.light' },
  { value: 'dark', icon: 'moon', label: 'settings.dark' },
  { value: 'auto', icon: 'screen', label: 'settings.system' },
];

export function ThemeMenu() {
  const { t } = useTranslation();
  // Without keepTransitions a style element would be injected at each change.
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  return (
    <Menu position="right-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('settings.theme')} title={t('settings.theme')}>
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
    <Menu position="right-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('settings.language')} title={t('settings.language')}>
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
