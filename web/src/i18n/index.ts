import i18next, { type i18n } from 'i18next';
import { initReactI18next } from 'react-i18next';
import type { Resource } from './en/index.ts';
import { tightenChinese } from './tighten.ts';

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

// Only the texts of the page's language are loaded; most of them with the first page that uses them.
async function load(instance: i18n, language: Language): Promise<void> {
  if (instance.hasResourceBundle(language, 'translation')) return;
  if (language === 'en') instance.addResourceBundle('en', 'translation', (await import('./en/first.ts')).first);
  else {
    const { first, zhServer } = await import('./zh/first.ts');
    instance.addResourceBundle('zh', 'translation', first);
    instance.addResourceBundle('zh', 'server', zhServer);
  }
}

// Any of their keys shows that they are loaded.
const ofTheRest = 'runs';

/** Loads the texts of all pages in the page's language. */
export async function loadRest(instance: i18n, language = instance.language as Language): Promise<void> {
  if (instance.getResource(language, 'translation', ofTheRest) !== undefined) return;
  const { rest } = language === 'en' ? await import('./en/rest.ts') : await import('./zh/rest.ts');
  instance.addResourceBundle(language, 'translation', rest, true);
}

export async function setLanguage(instance: i18n, language: Language): Promise<void> {
  try {
    window.localStorage.setItem(storageKey, language);
  } catch {
    // Storage may be blocked; the choice then lasts until the page is closed.
  }
  await load(instance, language);
  await loadRest(instance, language);
  await instance.changeLanguage(language);
}

/** Creates the translator and keeps the page's lang attribute current. */
export async function createTranslator(): Promise<i18n> {
  const instance = i18next.createInstance();
  const language = chooseLanguage(stored(), navigator.languages);
  const tell = (is: string) => document.documentElement.setAttribute('lang', is);
  instance.on('languageChanged', tell);
  await instance.use(initReactI18next).init({
    lng: language,
    fallbackLng: false,
    resources: {},
    // React escapes; escaping twice would show entities.
    interpolation: { escapeValue: false },
    returnNull: false,
  });
  tightenChinese(instance);
  await load(instance, language);
  tell(language);
  return instance;
}
