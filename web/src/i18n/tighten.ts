import type { i18n } from 'i18next';

const han = /^\p{Script=Han}/u;
const placed = /(.?)( ?)\{\{\s*(\w+)\s*\}\}( ?)(?=(.?))/gsu;

/**
 * Returns a Chinese template without the spaces around those placeholders whose value begins or ends with Chinese:
 * spaces separate Chinese from numbers and Latin words only.
 */
export function tighten(template: string, values: Record<string, unknown>): string {
  return template.replace(placed, (_all, before: string, left: string, name: string, right: string, after: string) => {
    const value = values[name];
    const text = typeof value === 'string' ? value : '';
    const first = han.test(text) && han.test(before);
    const last = han.test([...text].at(-1) ?? '') && han.test(after);
    return `${before}${first ? '' : left}{{${name}}}${last ? '' : right}`;
  });
}

/** Returns a Chinese sentence with a gap without the spaces at it, where the text of the gap begins or ends with Chinese. */
export function tightenAt(sentence: string, gap: string, text: string): string {
  return tighten(sentence.replaceAll(gap, '{{gap}}'), { gap: text }).replaceAll('{{gap}}', gap);
}

interface Interpolator {
  interpolate: (template: string, values: Record<string, unknown>, language: string, options: unknown) => string;
}

/** Makes a translator fill Chinese templates so. */
export function tightenChinese(instance: i18n): void {
  const interpolator = instance.services.interpolator as unknown as Interpolator;
  const fill = interpolator.interpolate.bind(interpolator);
  interpolator.interpolate = (template, values, language, options) => fill(language === 'zh' ? tighten(template, values) : template, values, language, options);
}
