import { Kbd, Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { modKey } from '../lib/platform.ts';
import { shortcuts, type Shortcut } from '../lib/shortcuts.ts';
import { Facts } from '../parts/Facts.tsx';
import classes from './ShortcutHelp.module.css';
import { pages, pagesFor } from './pages.ts';
import { useCan, useSession } from '../parts/session.ts';

export function ShortcutHelp({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  const me = useSession();
  const mayMake = useCan('editor');
  const known = new Set<string>(pages.map(({ id }) => id));
  const open = new Set<string>(pagesFor(me).map(({ id }) => id));
  const ofPage = ({ action }: Shortcut) => known.has(action);
  const listed = shortcuts.filter((s) => (ofPage(s) ? open.has(s.action) : s.action !== 'new' || mayMake));
  const keysOf = ({ keys: [first, second], mod }: Shortcut) => (
    <span className={classes.keys}>
      {mod && <><Kbd>{modKey}</Kbd><span aria-hidden="true">+</span></>}
      <Kbd>{mod && first.length === 1 ? first.toUpperCase() : first}</Kbd>
      {second && <>{t('shortcuts.then')} <Kbd>{second}</Kbd></>}
    </span>
  );
  const entry = (s: Shortcut): [string, ReactNode] => [t(`shortcuts.${s.action}`), keysOf(s)];
  return (
    <Modal opened={opened} onClose={onClose} title={t('shortcuts.title')} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <h3 className={classes.head}>{t('shortcuts.anywhere')}</h3>
      <Facts entries={[...listed.filter((s) => !ofPage(s)).map(entry), [t('shortcuts.close'), <Kbd>Esc</Kbd>]]} />
      <h3 className={classes.head}>{t('shortcuts.pages')}</h3>
      <Facts entries={listed.filter(ofPage).map(entry)} />
    </Modal>
  );
}
