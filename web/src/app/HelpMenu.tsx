import { ActionIcon, Kbd, Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useVersion } from '../api/version.ts';
import { changesPage, glossaryPage } from '../lib/guide.ts';
import { visible } from '../lib/visible.ts';
import { Icon } from '../parts/icons.tsx';

/** Keyboard shortcuts, the documentation, and the server's version. */
export function HelpMenu({ onKeys }: { onKeys: () => void }) {
  const { t } = useTranslation();
  const version = useVersion();
  return (
    <Menu position="right-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('help.title')} title={t('help.title')}>
          <Icon name="question" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<Icon name="keyboard" size={16} />} rightSection={<Kbd size="xs" aria-hidden="true">?</Kbd>} onClick={onKeys}>{t('settings.shortcuts')}</Menu.Item>
        <Menu.Item leftSection={<Icon name="book" size={16} />} component={Link} to="/guide">{t('help.guide')}</Menu.Item>
        <Menu.Item leftSection={<Icon name="list" size={16} />} renderRoot={(props) => <Link {...props} to="/guide/$" params={{ _splat: glossaryPage }} />}>{t('help.glossary')}</Menu.Item>
        <Menu.Item leftSection={<Icon name="star" size={16} />} renderRoot={(props) => <Link {...props} to="/guide/$" params={{ _splat: changesPage }} />}>{t('help.changes')}</Menu.Item>
        <Menu.Item leftSection={<Icon name="code" size={16} />} component="a" href="/docs" target="_blank" rel="noreferrer">{t('settings.api')}</Menu.Item>
        {version.data && <><Menu.Divider /><Menu.Label className="break">{t('settings.version', { version: visible(version.data.version) })}</Menu.Label></>}
      </Menu.Dropdown>
    </Menu>
  );
}
