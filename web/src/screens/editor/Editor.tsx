import { ActionIcon, Alert, Button, Group, SegmentedControl } from '@mantine/core';
import { useDebouncedCallback, useHotkeys, useMediaQuery } from '@mantine/hooks';
import { useBlocker, useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore, type FormEvent, type KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useDefaults } from '../../api/defaults.ts';
import { definitionOf } from '../../api/definition.ts';
import { validateJob, useSaveJob, type VersionedJob } from '../../api/jobs.ts';
import { Problem } from '../../api/problem.ts';
import type { Definition, Job } from '../../api/types.ts';
import { inheritanceOf, merged } from '../../lib/effective.ts';
import { toYaml } from '../../lib/yaml.ts';
import type { EditorView as View } from '../../lib/searchParams.ts';
import { useFlowGraph } from '../../flow/useFlowGraph.ts';
import { useSession } from '../../parts/session.ts';
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx';
import { Icon } from '../../parts/icons.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { showNotice } from '../../parts/showNotice.ts';
import { ConflictDialog } from './ConflictDialog.tsx';
import { CrontabBox, UnderstoodNote } from './CrontabBox.tsx';
import { fieldId, FormContext, unnamedIn, type Fresh, type FormView } from './context.ts';
import { JobDocument } from './document/JobDocument.ts';
import { isRenamed, rangeOf } from './document/parse.ts';
import { titled } from '../../lib/jobTitle.ts';
import { same } from '../../lib/same.ts';
import { visible } from '../../lib/visible.ts';
import type { Path } from './document/paths.ts';
import { keepDraft, readDraft, type DraftOf } from './draft.ts';
import classes from './Editor.module.css';
import { FaultSummary } from './FaultSummary.tsx';
import { FoldsContext, useFoldsState } from './folds.ts';
import { stepAt } from './flow.ts';
import { FlowPane } from './FlowPane.tsx';
import { FormFields } from './FormFields.tsx';
import { ImportDialog } from './ImportDialog.tsx';
import { ReviewDialog } from './ReviewDialog.tsx';
import { SchedulePreview } from './SchedulePreview.tsx';
import { useFaults, type Shown } from './useFaults.ts';
import { useLinePaste } from './useLinePaste.ts';
import { YamlPane, type YamlHandle } from './YamlPane.tsx';

interface Props {
  /** The job and version being edited; undefined for a new job. */
  opened: VersionedJob | undefined;
  /** Initial definition of a new job. */
  begin?: Definition | undefined;
  /** The job that a new one copies. */
  from?: string | undefined;
  view: View | undefined;
  onView: (view: View) => void;
}

/** Faults listed above the text. A flow can have many. */
const mostListed = 20;

/** Creates the document from the saved version, or from an unsaved draft after a reload. */
function useJobDocument(of: DraftOf, opened: VersionedJob | undefined, begin: Definition | undefined) {
  const [made] = useState(() => {
    const draft = readDraft(of);
    const base = draft?.base ?? opened;
    const doc = new JobDocument(base ? toYaml(definitionOf(base.job)) : '');
    const text = draft?.text ?? (begin && toYaml(begin));
    if (text !== undefined) doc.write(text);
    return { doc, base, restored: draft !== undefined };
  });
  return made;
}

export function Editor({ opened, begin, from, view, onView }: Props) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const name = opened?.job.name;
  const { name: who } = useSession();
  const of: DraftOf = { who, job: name, from };
  const { doc, base: first, restored } = useJobDocument(of, opened, begin);
  const snapshot = useSyncExternalStore(doc.subscribe, doc.snapshot);
  // The version that the changes are based on: a merge, or accepting the saved version, changes it.
  const [base, setBase] = useState(first);
  const [draftNotice, setDraftNotice] = useState(restored);
  const baseDefinition = useMemo((): Definition => (base ? definitionOf(base.job) : ({} as Definition)), [base]);
  const isNew = base === undefined;
  const save = useSaveJob();
  const [tried, setTried] = useState(false);
  const [asking, setAsking] = useState(false);
  const [askError, setAskError] = useState<Error | null>(null);
  const [reviewed, setReviewed] = useState<Definition>();
  // Number of consecutive conflicts.
  const [conflict, setConflict] = useState(0);
  const [importing, setImporting] = useState<string>();
  const folds = useFoldsState();
  const yaml = useRef<YamlHandle>(null);
  const left = useRef(false);

  const [fresh, setRows] = useState<Fresh>({});
  const setFresh = useCallback<FormView['setFresh']>((field, row) => setRows((before) => ({ ...before, [field]: row })), []);
  const unnamed = useMemo(() => unnamedIn(fresh), [fresh]);
  const definition = snapshot.good.definition ?? baseDefinition;
  const defaults = useDefaults().data?.items;
  const whole = useMemo(() => merged(definition, inheritanceOf(definition, defaults ?? [])), [definition, defaults]);
  const flow = useFlowGraph(definition.steps);
  const found = useFaults(snapshot, baseDefinition, { all: tried, isNew, unnamed, saveError: save.error, flow });
  // The step at the cursor of the text.
  const [cursor, setCursor] = useState<number>();
  const at = useMemo(() => (flow && cursor !== undefined ? stepAt(snapshot.good, cursor) : undefined), [flow, snapshot.good, cursor]);
  const differs = useMemo(() => !same(baseDefinition, definition), [baseDefinition, definition]);
  const dirty = snapshot.stale || (isNew ? snapshot.parsed.text.trim() !== '' : found.broken || differs);
  const losing = dirty || unnamed.length > 0;
  const blocker = useBlocker({ shouldBlockFn: () => losing && !left.current, enableBeforeUnload: () => losing && !left.current, withResolver: true });

  const narrow = useMediaQuery('(max-width: 62em)', undefined, { getInitialValueInEffect: false }) ?? false;
  // A flow is edited as text: beside it is its graph. Typing the first step into a job does not move the text.
  const [usual] = useState<View>(flow ? 'yaml' : 'both');
  const shown: View = narrow ? ((view ?? usual) === 'yaml' ? 'yaml' : 'form') : (view ?? usual);

  const keep = useDebouncedCallback(() => !left.current && keepDraft(of, dirty ? { text: doc.text, base } : undefined), 200);
  useEffect(() => keep(), [keep, snapshot.parsed, dirty, base]);
  const isStale = save.isError;
  const { reset } = save;
  useEffect(() => doc.subscribe(() => isStale && reset()), [doc, isStale, reset]);

  const show = (fault: Pick<Shown, 'field' | 'from' | 'to'>) => {
    const field = fault.field;
    if (shown !== 'yaml' && field !== undefined && !found.broken) {
      // The fold of a faulty field opens automatically.
      document.getElementById(fieldId(field))?.focus();
      document.getElementById(fieldId(field))?.scrollIntoView({ block: 'center' });
      return;
    }
    if (shown !== 'form') {
      yaml.current?.show(fault.from, fault.to);
      return;
    }
    onView(narrow ? 'yaml' : 'both');
    requestAnimationFrame(() => requestAnimationFrame(() => yaml.current?.show(fault.from, fault.to)));
  };
  // New faults are not rendered yet.
  const focusFirst = useRef(false);
  useEffect(() => {
    if (!focusFirst.current) return;
    const wrong = found.faults.find((fault) => fault.severity === 'error');
    if (!wrong) return;
    focusFirst.current = false;
    show(wrong);
  });

  /** Text typed after the request is not in the saved version: editing continues on top of it. */
  const done = (sent: Definition, saved: Job) => {
    const now = doc.settled().parsed.definition;
    const all = now !== undefined && same(now, sent);
    showNotice(t, t(all ? (isNew ? 'editor.created' : 'editor.saved') : 'editor.savedBefore', { name: visible(titled(saved)) }));
    const next = { job: saved, etag: `"${saved.meta.version}"` };
    if (!all && !isNew) {
      setReviewed(undefined);
      setConflict(0);
      setBase(next);
      return;
    }
    left.current = true;
    keepDraft(of, undefined);
    if (all) return void navigate({ to: '/jobs/$name', params: { name: saved.name } });
    keepDraft({ who, job: saved.name, from: undefined }, { text: doc.text, base: next });
    void navigate({ to: '/jobs/$name/edit', params: { name: saved.name }, search: { view }, replace: true });
  };
  const send = (what: Definition, etag: string | undefined, note?: string) => {
    // An etag does not identify the job, so the name must be the one that was opened.
    if (base && what.name !== base.job.name) return;
    save.mutate(
      { definition: what, etag, note },
      {
        onSuccess: (saved) => done(what, saved),
        onError: (error) => {
          setTried(true);
          setReviewed(undefined);
          const stale = error instanceof Problem && !isNew && (error.status === 412 || error.status === 404);
          setConflict((times) => (stale ? times + 1 : 0));
          focusFirst.current = !stale;
        },
      },
    );
  };
  /** Validates on the server; without faults continues, or validates again if the text has changed meanwhile. */
  const check = async (goOn: (definition: Definition) => void): Promise<void> => {
    setTried(true);
    setAskError(null);
    if (save.isError) save.reset();
    const { parsed } = doc.settled();
    const wanted = parsed.definition;
    if (!wanted || parsed.faults.length > 0 || unnamed.length > 0 || (base && isRenamed(parsed, base.job.name))) {
      focusFirst.current = true;
      return;
    }
    setAsking(true);
    try {
      const { faults } = await validateJob(wanted);
      if (doc.settled().parsed !== parsed) return await check(goOn);
      if (faults.length > 0) focusFirst.current = true;
      else goOn(wanted);
    } catch (error) {
      setAskError(error as Error);
    } finally {
      setAsking(false);
    }
  };
  const review = () => void check(setReviewed);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isNew) void check((wanted) => send(wanted, undefined));
    else review();
  };
  useHotkeys([['mod+S', review]], [], true);
  const onKeyDown = (event: KeyboardEvent) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.target instanceof HTMLElement && event.target.closest('[data-yaml]')) return;
    const key = event.key.toLowerCase();
    if (key !== 'z' && key !== 'y') return;
    // Fields have no undo history of their own: there is one for the document.
    event.preventDefault();
    if (key === 'y' || event.shiftKey) doc.redo();
    else doc.undo();
  };
  const leave = () => void navigate(name ? { to: '/jobs/$name', params: { name } } : { to: '/jobs' });
  const discard = () => {
    doc.write(base ? toYaml(baseDefinition) : begin ? toYaml(begin) : '');
    setDraftNotice(false);
    setRows({});
  };
  const form = useMemo((): FormView => ({ doc, definition, whole, isNew, errorAt: found.errorAt, warningAt: found.warningAt, redirect: found.redirect, placement: found.placement, fresh, setFresh }), [doc, definition, whole, isNew, found, fresh, setFresh]);
  const paste = useLinePaste(doc, isNew, setImporting);
  const title = opened ? t('editor.editTitle', { name: visible(titled(opened.job)) }) : t('editor.newTitle');
  const elsewhere = found.faults.filter((fault) => fault.field === undefined && fault.severity === 'error');
  const errors = found.faults.some((fault) => fault.severity === 'error');
  const shownAtFields = save.error instanceof Problem && (save.error.code === 'exists' || (save.error.faults.length > 0 && errors));

  // Above the form, so that the YAML does not move while the user types in it.
  const notice = elsewhere.length > 0 && (
    <Alert variant="light" color="red" icon={<Icon name="warn" />} role="alert" title={found.broken ? t('editor.broken') : undefined} data-elsewhere="">
      <ul className={classes.plain}>
        {elsewhere.slice(0, mostListed).map((fault, i) => (
          <li key={i} className="break">
            <button type="button" className={classes.jump} onClick={() => show(fault)}>{t('editor.line', { line: fault.line })}</button> {fault.location && <code>{fault.location}</code>} {fault.text}
          </li>
        ))}
        {elsewhere.length > mostListed && <li>{t('nodeDrawer.more', { count: elsewhere.length - mostListed })}</li>}
      </ul>
    </Alert>
  );
  const pane = <YamlPane ref={yaml} faults={found.faults} onPaste={(text) => doc.text.trim() === '' && paste.take(text)} onCursor={setCursor} />;
  const pick = (path: Path) => show({ field: undefined, ...rangeOf(snapshot.good, path) });
  const graph = flow && <FlowPane graph={flow} name={definition.name} faults={found.faults} at={at} onPick={pick} />;

  return (
    <FormContext value={form}>
      <FoldsContext value={folds}>
        <form onSubmit={submit} onKeyDown={onKeyDown} noValidate className={classes.form}>
          <PageHead title={title} name={title}>
            <Group gap={4}>
              <ActionIcon variant="default" size="lg" aria-label={t('editor.undo')} title={t('editor.undo')} disabled={!snapshot.canUndo} onClick={() => doc.undo()}><Icon name="undo" /></ActionIcon>
              <ActionIcon variant="default" size="lg" aria-label={t('editor.redo')} title={t('editor.redo')} disabled={!snapshot.canRedo} onClick={() => doc.redo()}><Icon name="redo" /></ActionIcon>
            </Group>
            {shown !== 'yaml' && <Button size="sm" variant="default" onClick={() => folds.setAll(!folds.all)}>{folds.all ? t('editor.foldAll') : t('editor.unfoldAll')}</Button>}
            <SegmentedControl
              aria-label={t('editor.views.label')} value={shown} onChange={(next) => onView(next as View)}
              data={(narrow ? (['form', 'yaml'] as const) : (['form', 'both', 'yaml'] as const)).map((value) => ({ value, label: t(`editor.views.${value}`) }))}
            />
          </PageHead>
          {isNew && snapshot.parsed.text.trim() === '' && <CrontabBox paste={paste} onImport={() => setImporting('')} />}
          <UnderstoodNote
            understood={paste.understood} error={paste.error} onClose={paste.forget} onUndo={paste.undo}
          />
          {draftNotice && (
            <Alert variant="light" color="cyan" icon={<Icon name="clock" />} withCloseButton closeButtonLabel={t('common.close')} onClose={() => setDraftNotice(false)} data-draft="">
              <div className={classes.line}>
                <span>{t('editor.draft')}</span>
                <Button size="xs" variant="default" onClick={discard}>{t('editor.discard')}</Button>
              </div>
            </Alert>
          )}
          <div className={classes.columns} data-view={shown} data-flow={flow ? '' : undefined}>
            {shown !== 'yaml' && (
              <div className={classes.formSide}>
                {notice}
                {shown === 'both' && graph}
                <fieldset className={classes.fields} disabled={found.broken} aria-label={t('editor.views.form')}>
                  <FormFields onPaste={paste.onPaste} preview={narrow} />
                </fieldset>
              </div>
            )}
            {shown === 'yaml' && <div className={classes.formSide}>{pane}{notice}</div>}
            {narrow && graph}
            {!narrow && (
              <div className={classes.side}>
                {shown !== 'both' && graph}
                <Panel title={t('editor.preview')}><SchedulePreview /></Panel>
                {shown === 'both' && pane}
              </div>
            )}
          </div>
          {save.error && conflict === 0 && !shownAtFields && <ProblemNotice error={save.error} />}
          {(askError ?? found.error) && <ProblemNotice error={(askError ?? found.error) as Error} />}
          <div className={classes.foot}>
            <Group gap="sm">
              <Button type="submit" loading={save.isPending || asking}>{isNew ? t('editor.create') : t('review.open')}</Button>
              {isNew && <Button variant="default" onClick={review}>{t('review.openNew')}</Button>}
              <Button variant="default" onClick={leave}>{t('common.cancel')}</Button>
            </Group>
            <FaultSummary faults={found.faults} onShow={show} />
          </div>
        </form>
        {importing !== undefined && <ImportDialog text={importing} onClose={() => setImporting(undefined)} />}
        {reviewed && (
          <ReviewDialog
            base={base && baseDefinition} definition={reviewed} busy={save.isPending} error={save.error} onSave={(note) => send(reviewed, base?.etag, note)}
            onClose={() => setReviewed(undefined)}
          />
        )}
        {conflict > 0 && base && (
          <ConflictDialog
            base={base} mine={definition} times={conflict} busy={save.isPending}
            onMerge={(changes, job) => {
              doc.setAll(changes.map(({ path, value }) => [path, value] as const));
              setBase(job);
              setConflict(0);
              const merged = doc.settled().parsed.definition;
              if (merged) setReviewed(merged);
            }}
            onOverwrite={(job) => send(definition, job?.etag)}
            onTake={(job) => {
              doc.write(toYaml(definitionOf(job.job)));
              setRows({});
              setBase(job);
              setConflict(0);
            }}
            onClose={() => setConflict(0)}
          />
        )}
        {blocker.status === 'blocked' && (
          <ConfirmDialog
            title={t('editor.leaveTitle')} confirm={t('editor.leave')} cancel={t('editor.stay')} onCancel={blocker.reset}
            onConfirm={() => {
              left.current = true;
              keepDraft(of, undefined);
              blocker.proceed();
            }}
          >
            {t('editor.leaveText')}
          </ConfirmDialog>
        )}
      </FoldsContext>
    </FormContext>
  );
}
