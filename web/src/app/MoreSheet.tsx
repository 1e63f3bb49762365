import { Button, Modal, useMantineColorScheme } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { languages, setLanguage, type Language } from '../i18n/index.ts';
import { Icon } from '../parts/icons.tsx';
import { About, AccountFacts, useSignOut } from './AccountMenu.tsx';
import { schemes } from '../parts/AppearanceMenus.tsx';
import classes from './MoreSheet.module.css';
import type { Page } from './pages.ts';

/** Items without room in a phone's bar: other pages, settings, and the account. */
export function MoreSheet({ opened, onClose, pages }: { opened: boolean; onClose: () => void; pages: readonly Page[] }) {
  const { t, i18n } = useTranslation();
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const signOut = useSignOut();
  return (
    <Modal
      opened={opened} onClose={onClose} title={t('nav.moreTitle')} centered={false} classNames={{ inner: classes.inner, content: classes.content }}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <div className={classes.parts}>
        {pages.length > 0 && (
          <nav className={classes.tiles} aria-label={t('nav.more')}>
            {pages.map(({ id, to, icon }) => (
              <Link key={id} to={to} className={classes.tile} onClick={onClose}>
                <Icon name={icon} size={22} />
                {t(`nav.${id}`)}
              </Link>
            ))}
          </nav>
        )}
        <div role="group" aria-label={t('settings.theme')} className={classes.choices}>
          {schemes.map(({ value, icon, label }) => (
            <Button
              key={value} variant={colorScheme === value ? 'light' : 'default'} aria-pressed={colorScheme === value} leftSection={<Icon name={icon} size={16} />}
              px="xs" onClick={() => setColorScheme(value)}
            >
              {t(label)}
            </Button>
          ))}
        </div>
        <div role="group" aria-label={t('settings.language')} className={classes.choices}>
          {(Object.keys(languages) as Language[]).map((language) => (
            <Button key={language} lang={language} variant={i18n.language === language ? 'light' : 'default'} aria-pressed={i18n.language === language} onClick={() => void setLanguage(i18n, language)}>
              {languages[language]}
            </Button>
          ))}
        </div>
        <div className={classes.account}>
          <div className="small dim"><AccountFacts /></div>
          <div className={classes.choices}>
            <Link to="/account" className={classes.row} onClick={onClose}><Icon name="user" size={18} /> {t('settings.own')}</Link>
            <Button variant="default" leftSection={<Icon name="out" size={16} />} loading={signOut.isPending} onClick={() => signOut.mutate()}>{t('settings.signOut')}</Button>
          </div>
        </div>
        {opened && <div className="small dim"><About onLeave={onClose} guide={pages.length > 0} /></div>}
      </div>
    </Modal>
  );
}
