import { CloseButton, TextInput } from '@mantine/core';
import { useEffect, useId, useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useLabels } from '../../api/jobList.ts';
import { hasLabel, withLabel } from '../../lib/labelSelector.ts';
import { isMachineLabel } from '../../lib/machineLabels.ts';
import { Icon } from '../../parts/icons.tsx';
import classes from './FilterPanel.module.css';

const valuesAtOnce = 30;

/** Filters by labels: check boxes for values, or a selector. */
export function LabelFilter({ selector, onChange }: { selector: string; onChange: (selector: string) => void }) {
  const { t, i18n } = useTranslation();
  const labels = useLabels().data?.items.filter(({ key }) => !isMachineLabel(key)) ?? [];
  const [text, setText] = useState(selector);
  const listId = useId();
  useEffect(() => setText(selector), [selector]);
  if (labels.length === 0 && selector === '') return null;
  const number = new Intl.NumberFormat(i18n.language);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onChange(text.trim());
  };
  return (
    <section className={classes.section} aria-label={t('jobs.labels')}>
      <h2 className={classes.name}>{t('jobs.labels')}</h2>
      <form onSubmit={submit}>
        <TextInput
          size="xs" aria-label={t('jobs.selector')} placeholder="team=data,tier!=slow" value={text} list={listId} spellCheck={false} autoCapitalize="none" maxLength={1024}
          leftSection={<Icon name="search" size={13} />} rightSection={text !== '' && <CloseButton size="xs" aria-label={t('common.clear')} onClick={() => onChange('')} />}
          onChange={(event) => setText(event.currentTarget.value)} onBlur={() => text.trim() !== selector && onChange(text.trim())}
        />
        <datalist id={listId}>{labels.flatMap(({ key, values }) => values.slice(0, 20).map(({ value }) => <option key={`${key}=${value}`} value={`${key}=${value}`} />))}</datalist>
      </form>
      <div className={classes.details}>
        {labels.map(({ key, values }) => {
          const chosen = values.some(({ value }) => hasLabel(selector, key, value));
          return (
            <details key={key} className="unfold" open={chosen || undefined}>
              <summary>{key} <span className={classes.count}>{number.format(values.length)}</span></summary>
              <ul className={classes.list}>
                {values.slice(0, valuesAtOnce).map(({ value, jobs }) => (
                  <li key={value}>
                    <button type="button" className={classes.option} aria-pressed={hasLabel(selector, key, value)} data-label={`${key}=${value}`} onClick={() => onChange(withLabel(selector, key, value))}>
                      <span className={classes.label}>{value === '' ? t('jobs.emptyLabel') : value}</span>
                      <span className={classes.count}>{number.format(jobs)}</span>
                    </button>
                  </li>
                ))}
              </ul>
            </details>
          );
        })}
      </div>
    </section>
  );
}
