import type { TFunction } from 'i18next';
import type { inheritable } from '../../lib/effective.ts';

/** Returns the name of a field that defaults can set. */
export function fieldText(t: TFunction, field: (typeof inheritable)[number]): string {
  switch (field) {
    case 'timezone':
    case 'timeout':
      return t(`job.${field}`);
    case 'env':
      return t('job.environment');
    case 'lostAfter':
      return t('editor.lostAfter');
    default:
      return t(`policy.${field}`);
  }
}
