import { Link, useRouterState } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { modKey } from '../lib/platform.ts';
import { Icon } from '../parts/icons.tsx';
import { LanguageMenu, ThemeMenu } from '../parts/AppearanceMenus.tsx';
import { AccountMenu } from './AccountMenu.tsx';
import { HelpMenu } from './HelpMenu.tsx';
import { MoreSheet } from './MoreSheet.tsx';
import classes from './Navigation.module.css';
import { pagesFor } from './pages.ts';
import { useSession } from '../parts/session.ts';

interface Props {
  onFind: () => void;
  onHelp: () => void;
  /** A user without a role has no pages. */
  noRole: boolean;
}

/** The navigation: at the side on a desktop, at the bottom on a phone. */
export function Navigation({ onFind, onHelp, noRole }: Props) {
  const { t } = useTranslation();
  const me = useSession();
  const [more, setMore] = useState(false);
  // The path of a new job is not below /jobs, where any name may be a job's.
  const path = useRouterState({ select: ({ location }) => location.pathname.replace(/^\/new\/job/, '/jobs') });
  const pages = noRole ? [] : pagesFor(me);
  const beyond = !noRole && !pages.some((page) => page.atHand && (page.to === '/' ? path === '/' : path.startsWith(page.to)));
  return (
    <>
      <header className={classes.bar} aria-label="Carillon">
        <Link to="/" className={classes.brand} aria-label={t('nav.home')}>
          <span className={classes.logo}><Icon name="bell" size={20} /></span>
          <span className={classes.name}>Carillon</span>
        </Link>
        {!noRole && (
          <button type="button" className={classes.find} onClick={onFind} aria-keyshortcuts="Control+K Meta+K">
            <Icon name="search" size={20} />
            <span className={classes.label}>{t('palette.find')}</span>
            <kbd className={classes.hint}>{modKey} K</kbd>
          </button>
        )}
        <nav className={classes.nav} aria-label={t('nav.main')}>
          {pages.map(({ id, to, icon, atHand }) => (
            <Link key={id} to={to} activeOptions={{ exact: to === '/' }} className={classes.item} data-at-hand={atHand || undefined} {...(path === '/jobs' && id === 'jobs' && { 'data-status': 'active' })}>
              <Icon name={icon} size={20} />
              <span className={classes.label}>{t(`nav.${id}`)}</span>
            </Link>
          ))}
        </nav>
        <div className={classes.tools}>
          {!noRole && <HelpMenu onKeys={onHelp} />}
          <LanguageMenu />
          <ThemeMenu />
          <AccountMenu />
        </div>
        <button type="button" className={classes.more} data-status={beyond ? 'active' : undefined} aria-haspopup="dialog" onClick={() => setMore(true)}>
          <Icon name="menu" size={20} />
          <span className={classes.label}>{t('nav.more')}</span>
        </button>
      </header>
      <MoreSheet opened={more} onClose={() => setMore(false)} pages={pages.filter(({ atHand }) => !atHand)} />
    </>
  );
}
