import { ActionIcon } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { Link, Outlet } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from '../parts/icons.tsx';
import { DegradedBanner } from './DegradedBanner.tsx';
import { OfflineBanner } from './OfflineBanner.tsx';
import { AccountMenu, LanguageMenu, ThemeMenu } from './menus.tsx';
import classes from './Shell.module.css';
import { ShortcutHelp } from './ShortcutHelp.tsx';
import { useShortcuts } from './useShortcuts.ts';

/** What is around every page: the way to the others, settings, the banners, the keyboard. */
export function Shell() {
  const { t } = useTranslation();
  const [help, setHelp] = useState(false);
  useShortcuts(() => setHelp(true));
  return (
    <div className={classes.shell}>
      <a href="#content" className={classes.skip}>{t('nav.skip')}</a>
      <header className={classes.header}>
        <div className={classes.bar}>
          <Link to="/" className={classes.brand} aria-label={t('nav.home')}>
            <span className={classes.logo}><Icon name="bell" size={20} /></span>
            <span>Carillon</span>
          </Link>
          <nav className={classes.nav} aria-label={t('nav.main')}>
            <Link to="/" activeOptions={{ exact: true }} className={classes.link}>{t('nav.overview')}</Link>
            <Link to="/jobs" className={classes.link}>{t('nav.jobs')}</Link>
            <Link to="/runs" className={classes.link}>{t('nav.runs')}</Link>
            <Link to="/ledger" className={classes.link}>{t('nav.ledger')}</Link>
            <Link to="/timeline" className={classes.link}>{t('nav.timeline')}</Link>
            <Link to="/workers" className={classes.link}>{t('nav.workers')}</Link>
            <Link to="/access" className={classes.link}>{t('nav.access')}</Link>
          </nav>
          <div className={classes.tools}>
            <ActionIcon className={classes.keys} variant="subtle" color="gray" size="lg" aria-label={t('settings.shortcuts')} onClick={() => setHelp(true)}>
              <Icon name="keyboard" />
            </ActionIcon>
            <LanguageMenu />
            <ThemeMenu />
            <AccountMenu />
          </div>
        </div>
      </header>
      <OfflineBanner />
      <DegradedBanner />
      <main id="content" className={classes.content} tabIndex={-1}>
        <Outlet />
      </main>
      <Notifications position="bottom-right" limit={3} />
      <ShortcutHelp opened={help} onClose={() => setHelp(false)} />
    </div>
  );
}
