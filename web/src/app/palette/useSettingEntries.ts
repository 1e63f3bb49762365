import { useMantineColorScheme } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { languages, setLanguage, type Language } from '../../i18n/index.ts';
import { schemes } from '../../parts/AppearanceMenus.tsx';
import { useSession } from '../../parts/session.ts';
import { useSignOut } from '../AccountMenu.tsx';
import type { Entry } from './entries.ts';

const schemeWords = { light: ['light theme', 'bright'], dark: ['dark theme', 'night'], auto: ['system theme', 'auto'] };
const languageWords: Record<Language, readonly string[]> = { en: ['English', 'language', '英文', '语言'], zh: ['Chinese', 'zh', 'language', '语言'] };

/** Actions on the console itself and the own account: theme, language, tokens, sign out. */
export function useSettingEntries(): Entry[] {
  const { t, i18n } = useTranslation();
  const navigate = useNavigate();
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const me = useSession();
  const { mutate: signOut } = useSignOut();
  return useMemo(() => [
    ...schemes.map(({ value, icon, label }): Entry => ({ id: `theme ${value}`, icon, label: t('palette.theme', { name: t(label) }), words: [t(label), value, ...schemeWords[value]], act: () => setColorScheme(value) })),
    ...(Object.keys(languages) as Language[]).filter((language) => language !== i18n.language).map((language): Entry => ({
      id: `language ${language}`, icon: 'globe', label: t('palette.language', { name: languages[language] }), words: [languages[language], ...languageWords[language]], act: () => void setLanguage(i18n, language),
    })),
    ...(me.user === undefined && me.role !== 'admin' ? [] : [{
      id: 'act token', icon: 'key', label: t('palette.newToken'), words: ['new token', 'create token', 'api token'],
      // Tokens of the session itself have no user, and none of their own.
      act: () => void (me.user === undefined ? navigate({ to: '/access', search: { tab: 'tokens' } }) : navigate({ to: '/account', search: { token: 'new' } })),
    } satisfies Entry]),
    { id: 'act out', icon: 'out', label: t('settings.signOut'), words: ['sign out', 'log out', 'logout'], act: () => signOut() },
  ], [t, i18n, me, navigate, setColorScheme, signOut]);
}
