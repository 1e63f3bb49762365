import { Loader, Modal } from '@mantine/core';
import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import type { Job } from '../../api/types.ts';
import { visible } from '../../lib/visible.ts';
import { Icon } from '../../parts/icons.tsx';
import type { Entry, JobAction } from './entries.ts';
import classes from './Palette.module.css';
import { useJobSection } from './useJobSection.ts';
import { useSections } from './useSections.ts';

interface Props {
  /** Returns the text that was typed before the palette was loaded. */
  typed: () => string;
  onArrived: () => void;
  onClose: () => void;
  onHelp: () => void;
  onChoose: (act: JobAction, job: Job) => void;
}

/** Finds jobs, runs, workers, groups and pages by a few letters, and offers actions on the found job. */
export function Palette({ typed, onArrived, onClose, onHelp, onChoose }: Props) {
  const { t } = useTranslation();
  const listId = useId();
  const [query, setQuery] = useState(typed);
  const [of, setOf] = useState<{ job: Job; from: string } | undefined>();
  const [active, setActive] = useState('');
  const list = useRef<HTMLDivElement>(null);
  const found = useSections(of ? of.from : query, onHelp, onChoose);
  const ofJob = useJobSection(of?.job, query, onChoose);
  const sections = of ? ofJob : found.sections;
  const entries = sections.flatMap((section) => section.entries);
  // While results change, the selection stays with its entry; if that is gone, it moves to the first one.
  const at = Math.max(0, entries.findIndex(({ id }) => id === active));
  const current = entries[at];
  const optionId = (entry: Entry | undefined) => (entry ? `${listId}-${entries.indexOf(entry)}` : undefined);

  useEffect(() => {
    setQuery(typed());
    onArrived();
  }, [typed, onArrived]);
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [at, current?.id]);

  const type = (text: string) => {
    setQuery(text);
    setActive('');
  };
  const enter = (job: Job) => {
    setOf({ job, from: query });
    type('');
  };
  const leave = () => {
    if (!of) return;
    setQuery(of.from);
    setActive(`job ${of.job.name}`);
    setOf(undefined);
  };
  const choose = (entry: Entry | undefined) => {
    if (!entry?.act) return;
    onClose();
    entry.act();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing) return;
    const field = event.currentTarget;
    const atEnd = field.selectionStart === field.value.length && field.selectionEnd === field.value.length;
    const move = (to: number) => setActive(entries[(to + entries.length) % Math.max(1, entries.length)]?.id ?? '');
    const acts: Record<string, (() => void) | undefined | false> = {
      ArrowDown: () => move(at + 1),
      ArrowUp: () => move(at - 1),
      PageDown: () => move(Math.min(entries.length - 1, at + 6)),
      PageUp: () => move(Math.max(0, at - 6)),
      Enter: () => choose(current),
      ArrowRight: !of && atEnd && current?.job && (() => current.job && enter(current.job)),
      ArrowLeft: of && query === '' && leave,
      Backspace: of && query === '' && leave,
      Escape: of ? leave : onClose,
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };

  return (
    <Modal.Root
      opened onClose={onClose} closeOnEscape={false} centered={false} lockScroll={false} size="42rem" padding={0} transitionProps={{ duration: 0 }}
      classNames={{ inner: classes.inner, content: classes.content, body: classes.body }}
    >
      <Modal.Overlay />
      <Modal.Content aria-label={t('palette.title')}>
        <Modal.Body>
      <div className={classes.field} data-palette="">
        {of ? (
          <button type="button" className={classes.of} aria-label={t('palette.back')} onClick={leave}>
            <Icon name="left" size={16} /> {visible(of.job.name)}
          </button>
        ) : (
          <Icon name="search" size={20} />
        )}
        <input
          key={of ? 'acts' : 'find'} className={classes.input} data-autofocus="" autoFocus type="text" role="combobox" aria-expanded={entries.length > 0} aria-controls={listId} aria-autocomplete="list"
          aria-activedescendant={optionId(current)} aria-describedby={`${listId}-hint`} aria-label={of ? t('palette.placeholderActions') : t('palette.title')}
          placeholder={of ? t('palette.placeholderActions') : t('palette.placeholder')} value={query} maxLength={200} spellCheck={false} autoCapitalize="none" autoComplete="off" enterKeyHint="go"
          onChange={(event) => type(event.currentTarget.value)} onKeyDown={onKeyDown}
        />
        {!of && found.searching && query !== '' && <Loader size="xs" aria-hidden="true" />}
        <button type="button" className={classes.close} aria-label={t('common.close')} onClick={onClose}><Icon name="close" size={18} /></button>
      </div>
      <div id={listId} ref={list} className={classes.list} role={entries.length > 0 ? 'listbox' : undefined} aria-label={entries.length > 0 ? t('palette.results') : undefined}>
        {sections.map((section) => (
          <div key={section.id} role="group" aria-labelledby={`${listId}-${section.id}`}>
            <div id={`${listId}-${section.id}`} className={classes.title} role="presentation">{section.title}</div>
            {section.entries.map((entry) => (
              <div
                key={entry.id} id={optionId(entry)} role="option" aria-selected={entry === current} aria-disabled={!entry.act || undefined} className={classes.option} data-option={entry.id}
                onMouseMove={() => entry.id !== current?.id && setActive(entry.id)} onMouseDown={(event) => event.preventDefault()} onClick={() => choose(entry)}
              >
                <Icon name={entry.icon} size={18} />
                <span className={classes.label}>{entry.label}</span>
                {entry.detail && <span className={classes.detail}>{entry.detail}</span>}
                {entry.job && (
                  // For pointers only; the keyboard uses the arrow key.
                  <span
                    className={classes.acts} aria-hidden="true" title={t('palette.moreActions')}
                    onClick={(event) => {
                      event.stopPropagation();
                      if (entry.job) enter(entry.job);
                    }}
                  >
                    <Icon name="dots" size={18} />
                  </span>
                )}
              </div>
            ))}
          </div>
        ))}
        {!of && found.error && query !== '' && <p className={classes.none}>{t('palette.away')}</p>}
        {!of && query !== '' && !found.searching && !found.error && !sections.some(({ id }) => id !== 'actions') && (
          <div className={classes.none} role="presentation">
            <strong>{t('palette.none', { query: visible(query.trim()) })}</strong>
            <br />
            {t('palette.noneHelp')}
          </div>
        )}
      </div>
      <div className={classes.hints} aria-hidden="true">
        <span><kbd>↑</kbd><kbd>↓</kbd> {t('palette.choose')}</span>
        <span><kbd>↵</kbd> {t('palette.openIt')}</span>
        {!of && <span><kbd>→</kbd> {t('palette.acts')}</span>}
        <span><kbd>Esc</kbd> {of ? t('palette.back') : t('palette.close')}</span>
      </div>
      <div id={`${listId}-hint`} className="unseen">{t('palette.hint')}</div>
      <div role="status" className="unseen">{found.searching ? t('palette.searching') : t('palette.count', { count: entries.length })}</div>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
