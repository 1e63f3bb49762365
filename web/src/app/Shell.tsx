import { Outlet } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { DegradedBanner } from './DegradedBanner.tsx';
import { Navigation } from './Navigation.tsx';
import { Notices } from './Notices.tsx';
import { NoRole } from './NoRole.tsx';
import { OfflineBanner } from '../parts/OfflineBanner.tsx';
import { OutOfDateBanner } from './OutOfDateBanner.tsx';
import { PaletteHost } from './palette/PaletteHost.tsx';
import { useSession } from '../parts/session.ts';
import classes from './Shell.module.css';
import { ShortcutHelp } from './ShortcutHelp.tsx';
import { useArrival } from './useArrival.ts';
import { useBannerSpace } from './useBannerSpace.ts';
import { useLostFailures } from './useLostFailures.ts';
import { useShortcuts } from './useShortcuts.ts';

/** The frame of every page: navigation, settings, banners, keyboard shortcuts. */
export function Shell() {
  const { t } = useTranslation();
  const me = useSession();
  const [help, setHelp] = useState(false);
  const [finding, setFinding] = useState(false);
  useShortcuts({ help: () => setHelp(true), palette: () => setFinding((before) => !before) });
  useArrival();
  useLostFailures();
  const { space, banners } = useBannerSpace();
  const noRole = me.role === undefined && Object.keys(me.groups ?? {}).length === 0;
  return (
    <div className={classes.shell}>
      <a href="#content" className={classes.skip} onClick={() => document.getElementById('content')?.focus()}>{t('nav.skip')}</a>
      <Navigation onFind={() => setFinding(true)} onHelp={() => setHelp(true)} noRole={noRole} />
      <div className={classes.column}>
        <div ref={space} className={classes.space}>
          <div ref={banners} className={classes.banners}>
            <OfflineBanner />
            <OutOfDateBanner />
            {!noRole && <DegradedBanner />}
          </div>
        </div>
        <main id="content" className={classes.content} tabIndex={-1}>
          {noRole ? <NoRole /> : <Outlet />}
        </main>
      </div>
      <Notices />
      <ShortcutHelp opened={help} onClose={() => setHelp(false)} />
      {!noRole && <PaletteHost opened={finding} onClose={() => setFinding(false)} onHelp={() => setHelp(true)} />}
    </div>
  );
}
