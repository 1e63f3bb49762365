import { useImperativeHandle, useLayoutEffect, useMemo, useRef, type Ref } from 'react';
import { useTranslation } from 'react-i18next';
import { useCan } from '../../parts/session.ts';
import { useChannels } from '../../api/channels.ts';
import { useSecrets } from '../../api/secrets.ts';
import { useWorkers } from '../../api/workers.ts';
import { createEditor, type CodeEditor, type CompletionSource, type EditorTexts } from '../../parts/code/editor.ts';
import { useForm } from './context.ts';
import { offersAt, type Known } from './document/complete.ts';
import classes from './YamlPane.module.css';
import { labelAt } from './labels.ts';
import type { Shown } from './useFaults.ts';

export interface YamlHandle {
  show: (from: number, to: number) => void;
}

/** Names for completion that only the server knows. */
function useKnown(steps: readonly string[]): Known {
  const channels = useChannels().data?.items;
  const workers = useWorkers().data?.items;
  const secrets = useSecrets(useCan('editor')).data?.items;
  return useMemo(
    () => (path) => {
      const at = path.join('.');
      if (at === 'notify.to') return (channels ?? []).map((channel) => channel.name);
      if (at === 'placement.workers') return (workers ?? []).map((worker) => worker.name);
      if (at === 'steps.after' || at === 'steps.after.step') return steps;
      if (at === 'timezone') return ['UTC', ...Intl.supportedValuesOf('timeZone')];
      return path[0] === 'env' ? (secrets ?? []).map((secret) => `secret:${secret.name}`) : [];
    },
    [channels, workers, secrets, steps],
  );
}

interface Props {
  faults: readonly Shown[];
  onPaste: (text: string) => boolean;
  /** Called with the position of the cursor. */
  onCursor: (at: number) => void;
  ref?: Ref<YamlHandle>;
}

/** The YAML of the job in an editor. Faults are shown at their lines. */
export function YamlPane({ faults, onPaste, onCursor, ref }: Props) {
  const { t, i18n } = useTranslation();
  const { doc, definition } = useForm();
  const { steps } = definition;
  const names = useMemo(() => (steps ?? []).flatMap((step) => (typeof step?.name === 'string' && step.name !== '' ? [step.name] : [])), [steps]);
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<CodeEditor | undefined>(undefined);
  const known = useKnown(names);
  const english = i18n.language === 'en';

  const texts = useMemo(
    (): EditorTexts => ({ label: t('editor.yaml.label'), help: t('editor.yaml.keys'), placeholder: t('editor.yaml.empty'), phrases: { Completions: t('editor.yaml.completions'), Diagnostics: t('editor.faultList') } }),
    [t],
  );
  // The editor calls these long after it was created.
  const latest = useRef<{ complete: CompletionSource; paste: (text: string) => boolean; cursor: (at: number) => void }>({ complete: () => null, paste: () => false, cursor: () => undefined });
  latest.current = {
    paste: onPaste,
    cursor: onCursor,
    complete: ({ state, pos, explicit }) => {
      const found = offersAt(state.doc.toString(), pos, known);
      if (!found || (!explicit && found.from === pos && !/:\s$/.test(state.sliceDoc(Math.max(0, pos - 2), pos)))) return null;
      return {
        from: found.from,
        validFor: /^[\w/:+-]*$/,
        options: found.offers.map(({ label, apply, path, spec }, i) => {
          const texts = spec && labelAt(path);
          const doc = english ? spec?.doc : texts?.help && t(`editor.${texts.help}`);
          return { label, apply, boost: -i / 100, ...(texts && { detail: t(`editor.${texts.label}`) }), ...(doc && { info: doc }) };
        }),
      };
    },
  };

  useLayoutEffect(() => {
    if (!host.current) return undefined;
    const made = createEditor(host.current, doc, texts, (context) => latest.current.complete(context), (text) => latest.current.paste(text), (at) => latest.current.cursor(at));
    editor.current = made;
    return () => {
      editor.current = undefined;
      made.destroy();
    };
  }, [doc, texts]);
  useLayoutEffect(() => editor.current?.setFaults(faults.map(({ from, to, severity, text }) => ({ from, to: Math.max(to, from), severity, message: text }))), [faults]);
  useImperativeHandle(ref, () => ({ show: (from, to) => editor.current?.show(from, to) }), []);

  return (
    <section className={classes.yaml} aria-label={t('editor.yaml.title')}>
      <div ref={host} className={classes.code} data-yaml="" />
      <p className={classes.yamlHelp}>{t('editor.yaml.help')}</p>
    </section>
  );
}
