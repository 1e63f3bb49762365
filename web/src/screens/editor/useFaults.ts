import { useDebouncedValue } from '@mantine/hooks';
import { useMemo, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useValidation } from '../../api/jobs.ts';
import { Problem, type Fault } from '../../api/problem.ts';
import type { Definition } from '../../api/types.ts';
import { labelled, sentences } from '../../lib/lists.ts';
import { visible } from '../../lib/visible.ts';
import { faultText } from '../../parts/problemText.ts';
import type { FlowGraph } from '../../flow/model/graph.ts';
import { changed } from './document/change.ts';
import type { Snapshot } from './document/JobDocument.ts';
import { linesOf } from './document/lines.ts';
import { isRenamed, rangeOf, type Range } from './document/parse.ts';
import { same } from '../../lib/same.ts';
import { locationOf, pathOf, valueAt, type Path } from './document/paths.ts';
import { meantBy } from './flow.ts';
import { fieldOf } from './labels.ts';

/** Faults and warnings with their positions in the text and in the form. */
export interface Shown extends Range {
  location: string;
  /** The form's field; undefined if there is none. */
  field: string | undefined;
  text: string;
  line: number;
  severity: 'error' | 'warning';
}

const codes = ['DUPLICATE_KEY', 'MISSING_CHAR', 'TAB_AS_INDENT', 'BAD_INDENT', 'BLOCK_AS_IMPLICIT_KEY', 'MULTILINE_IMPLICIT_KEY', 'UNEXPECTED_TOKEN', 'BAD_SCALAR_START', 'BAD_DQ_ESCAPE', 'BAD_ALIAS'] as const;

/** Reports whether there is a text for a kind of fault of the parser. */
function isKnown(code: string | undefined): code is (typeof codes)[number] {
  return (codes as readonly (string | undefined)[]).includes(code);
}

/** Keeps the faults of unchanged values: changed ones wait for the next validation. */
export function stillTrue(validated: { definition: Definition; faults: readonly Fault[] }, now: Definition): Fault[] {
  const unchanged = new Map<string, boolean>(); // by field: the steps of a flow are compared once
  return validated.faults.filter((fault) => {
    const head = pathOf(fault.location, validated.definition).slice(0, 1);
    const known = unchanged.get(head.join()) ?? same(valueAt(validated.definition, head), valueAt(now, head));
    unchanged.set(head.join(), known);
    return known;
  });
}

/** Parts of the definition that were changed since it was opened. */
function useTouched(base: Definition, definition: Definition): ReadonlySet<string> {
  const touched = useRef<Set<string>>(new Set());
  return useMemo(() => {
    for (const head of new Set([...Object.keys(base), ...Object.keys(definition)])) {
      if (!touched.current.has(head) && !same(valueAt(base, [head]), valueAt(definition, [head]))) touched.current = new Set([...touched.current, head]);
    }
    return touched.current;
  }, [base, definition]);
}

interface Options {
  /** Whether all faults are shown, not only those of touched fields. */
  all: boolean;
  isNew: boolean;
  /** Fields with an unnamed row. */
  unnamed: readonly string[];
  saveError: Error | null;
  /** The graph of the steps, if the definition has any. */
  flow: FlowGraph | undefined;
}

/**
 * Faults by position: the text is parsed here; the server validates the definition while the user types, and again
 * before saving. Untouched fields of a new job show no faults until the user tries to save.
 */
export function useFaults(snapshot: Snapshot, base: Definition, { all, isNew, unnamed, saveError, flow }: Options) {
  const { t, i18n } = useTranslation();
  const { parsed, good } = snapshot;
  const definition = good.definition ?? base;
  // Values with local faults are left out, so that the server validates the rest: an unreadable value would hide other
  // faults.
  const checkable = useMemo(() => good.faults.reduce((all, fault) => changed(all, pathOf(fault.location, all), undefined) as Definition, definition), [good, definition]);
  const [settled] = useDebouncedValue(checkable, 200);
  const touched = useTouched(base, definition);
  const validation = useValidation(settled, (touched.size > 0 || !isNew) && parsed.definition !== undefined);
  const refused = saveError instanceof Problem ? saveError : undefined;
  const validated = validation.data;

  const faults = useMemo((): Shown[] => {
    const lineOf = linesOf(parsed.text);
    const at = (path: Path, range: Range, text: string, severity: Shown['severity'] = 'error'): Shown => ({
      ...range, text, severity, location: locationOf(path), field: path[0] === 'steps' && path.length > 1 ? undefined : fieldOf(path), line: lineOf(range.from),
    });
    const own = parsed.faults.map((fault) => {
      const said = fault.kind === 'syntax' ? t(`editor.syntax.${isKnown(fault.code) ? fault.code : 'other'}`) : t(`editor.own.${fault.kind}`);
      const path = pathOf(fault.location, parsed.definition);
      return at(path, fault, visible(sentences([said, fault.suggestion && t('editor.own.meant', { name: fault.suggestion })], i18n.language)));
    });
    if (!parsed.definition) return own;
    for (const fault of flow?.faults ?? []) {
      const path = pathOf(fault.location, parsed.definition);
      const meant = flow && meantBy(flow, fault);
      own.push(at(path, rangeOf(parsed, path), visible(sentences([t(`flow.fault.${fault.kind}`, { name: fault.name }), meant && t('editor.own.meant', { name: meant })], i18n.language))));
    }
    const knotted = flow?.faults.some(({ kind }) => kind === 'cycle');
    // The form cannot change the name, so it shows no fault for it.
    const renamed = isNew || !isRenamed(parsed, base.name) ? [] : [{ ...at(['name'], rangeOf(parsed, ['name']), t('editor.renamed', { name: base.name })), field: undefined }];
    const nameless = all ? unnamed.map((field) => at([field], rangeOf(parsed, [field]), t('editor.own.unnamed'))) : [];
    const said = new Set([...own, ...renamed].map((fault) => fault.location));
    const found = refused && refused.faults.length > 0 ? refused.faults : validated ? stillTrue(validated, checkable) : [];
    const theirs = found.flatMap((fault) => {
      const path = pathOf(fault.location, parsed.definition);
      if (said.has(locationOf(path)) || (knotted && fault.code === 'cycle')) return [];
      const field = fieldOf(path);
      // In a list of names the fault belongs to one of them.
      const name = (field === 'env' || field === 'params' || field === 'labels') && path.length > 1 ? path[1] : undefined;
      const words = faultText(t, i18n.language, fault);
      return [at(path, rangeOf(parsed, path), visible(name === undefined ? words : labelled(String(name), words, i18n.language)))];
    });
    // Notes on an expression are shown with its next fires, redirected output at the command.
    const warnings = validated && validated.faults.length === 0 && !refused ? stillTrue({ ...validated, faults: validated.warnings }, checkable).filter((fault) => !/^(schedules\[\d+\]\.)?cronExpr$/.test(fault.location) && fault.code !== 'redirected') : [];
    const doubts = warnings.map((fault) => {
      const path = pathOf(fault.location, parsed.definition);
      return at(path, rangeOf(parsed, path), visible(faultText(t, i18n.language, fault)), 'warning');
    });
    const taken = refused?.code === 'exists' ? [at(['name'], rangeOf(parsed, ['name']), t('editor.nameTaken'))] : [];
    const known = all || !isNew ? undefined : touched;
    return [...own, ...renamed, ...nameless, ...taken, ...theirs, ...doubts].filter((fault) => !known || fault.field === undefined || known.has(fault.location.split(/[.[]/)[0] ?? '')).sort((a, b) => a.from - b.from);
  }, [parsed, base.name, validated, checkable, refused, all, isNew, unnamed, touched, flow, t, i18n.language]);

  const redirect = useMemo(() => validated && stillTrue({ ...validated, faults: validated.warnings }, checkable).find((warning) => warning.code === 'redirected')?.data?.redirect, [validated, checkable]);

  return {
    faults,
    redirect,
    /** The eligible workers for the edited job; undefined while unknown. */
    placement: validated?.placement,
    /** The server could not be reached. */
    error: validation.error,
    /** The text is not YAML: the form shows the last valid definition. */
    broken: parsed.definition === undefined,
    errorAt: (field: string) => sentences(faults.filter((fault) => fault.field === field && fault.severity === 'error').map((fault) => fault.text), i18n.language) || undefined,
    warningAt: (field: string) => sentences(faults.filter((fault) => fault.field === field && fault.severity === 'warning').map((fault) => fault.text), i18n.language) || undefined,
  };
}
