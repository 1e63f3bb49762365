import i18next, { type i18n } from 'i18next';
import { initReactI18next } from 'react-i18next';
import { en, type Resource } from './en.ts';
import { zh } from './zh.ts';
import { zhServer } from './zhServer.ts';

export const languages = { en: 'English', zh: '中文' } as const;
export type Language = keyof typeof languages;

const storageKey = 'carillon-language';

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'translation';
    resources: { translation: Resource };
  }
}

/** The stored choice, else the first of the browser's languages that the console has, else English. */
export function chooseLanguage(stored: string | null, wanted: readonly string[]): Language {
  for (const tag of [stored ?? '', ...wanted]) {
    const base = tag.toLowerCase().split('-')[0];
    if (base === 'en' || base === 'zh') return base;
  }
  return 'en';
}

function stored(): string | null {
  try {
    return window.localStorage.getItem(storageKey);
  } catch {
    return null;
  }
}

export function setLanguage(instance: i18n, language: Language): void {
  try {
    window.localStorage.setItem(storageKey, language);
  } catch {
    // Storage may be blocked; the choice then lasts until the page is closed.
  }
  void instance.changeLanguage(language);
}

/** Makes the translator, and keeps the page's lang attribute true. */
export function createTranslator(): i18n {
  const instance = i18next.createInstance();
  const tell = (language: string) => document.documentElement.setAttribute('lang', language);
  instance.on('languageChanged', tell);
  void instance.use(initReactI18next).init({
    lng: chooseLanguage(stored(), navigator.languages),
    fallbackLng: 'en',
    initAsync: false,
    resources: { en: { translation: en }, zh: { translation: zh, server: zhServer } },
    // React escapes; escaping twice would show entities.
    interpolation: { escapeValue: false },
    returnNull: false,
  });
  tell(instance.language);
  return instance;
}
