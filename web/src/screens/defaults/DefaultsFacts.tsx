import { useTranslation } from 'react-i18next';
import type { Defaults, Job } from '../../api/types.ts';
import { fieldsOf, valuesOf } from '../../lib/defaultsReview.ts';
import { optsOut } from '../../lib/effective.ts';
import { visible } from '../../lib/visible.ts';
import { CodeBlock } from '../../parts/CodeBlock.tsx';
import { Facts } from '../../parts/Facts.tsx';
import { policies } from '../../parts/policies.ts';
import { fieldText } from './fieldText.ts';

/** The values of defaults, in words. */
export function DefaultsFacts({ values }: { values: Defaults }) {
  const { t, i18n } = useTranslation();
  const said = policies(t, i18n.language, { name: '', ...valuesOf(values), meta: {} } as Job);
  const env = Object.entries(values.env ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => `${name}=${value}`).join('\n');
  const { timezone, timeout, lostAfter } = values;
  const valueOf = (field: ReturnType<typeof fieldsOf>[number]) => {
    switch (field) {
      case 'timezone':
        return timezone && visible(timezone);
      case 'timeout':
        return timeout && optsOut('timeout', timeout) ? t('job.noTimeout') : timeout && visible(timeout);
      case 'lostAfter':
        return lostAfter && visible(lostAfter);
      case 'env':
        return env && <CodeBlock label={t('job.environment')}>{env}</CodeBlock>;
      default:
        return said.find(([, , of]) => of === field)?.[1];
    }
  };
  return <Facts entries={fieldsOf(values).map((field) => [fieldText(t, field), valueOf(field)])} />;
}
