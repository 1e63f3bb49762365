import { Title } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useEffect, useId, useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { guideOf } from '../../lib/guide.ts';
import { Icon } from '../../parts/icons.tsx';
import { useForm } from './context.ts';
import { valueAt } from './document/paths.ts';
import classes from './Fold.module.css';
import fieldClasses from './fields.module.css';
import { useFolds } from './folds.ts';

interface Props {
  id: keyof typeof guideOf;
  title: string;
  /** The fields inside; the head shows whether any is set or has a fault. */
  fields: readonly string[];
  children: ReactNode;
}

/** Less common settings: collapsed, with a mark if any is set. Faults are always visible. */
export function Fold({ id, title, fields, children }: Props) {
  const { t } = useTranslation();
  const { definition, whole, errorAt } = useForm();
  const folds = useFolds();
  const headId = useId();
  const set = fields.filter((field) => valueAt(definition, field.split('.')) !== undefined).length;
  const inherits = set === 0 && fields.some((field) => whole.from.has(field.split('.')[0] ?? ''));
  const wrong = fields.some((field) => errorAt(field) !== undefined);
  const open = wrong || folds.isOpen(id);
  // Stays open while the user fixes a fault.
  const { open: unfold } = folds;
  // A link may lead to these settings.
  const wanted = useSearch({ strict: false }).section === id;
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!wanted) return;
    unfold(id);
    place.current?.scrollIntoView({ block: 'start' });
    // Only on arrival: later the user decides.
  }, []);
  useEffect(() => {
    if (wrong) unfold(id);
  }, [wrong, unfold, id]);
  return (
    <section ref={place} className={classes.fold} aria-labelledby={headId} data-open={open}>
      <Title order={2} size="h5" className={classes.foldHead}>
        <button type="button" id={headId} className={classes.foldButton} aria-expanded={open} onClick={() => folds.toggle(id)}>
          <Icon name="right" size={15} />
          <span>{title}</span>
          {inherits && <span className={fieldClasses.mark}>{t('inherits.mark')}</span>}
          {set > 0 && <span className={fieldClasses.mark} data-set={set}>{t('editor.set', { count: set })}</span>}
        </button>
      </Title>
      {open && (
        <div className={classes.foldBody}>
          {children}
          {/* In another tab, so that the draft stays open. */}
          <p className={classes.guide}><a href={`/guide/${guideOf[id]}`} target="_blank" rel="noreferrer">{t('editor.inGuide', { section: title })}</a></p>
        </div>
      )}
    </section>
  );
}
