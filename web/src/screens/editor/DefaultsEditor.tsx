import { Button, Group } from '@mantine/core';
import { Link, Navigate, useBlocker, useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo, useState, useSyncExternalStore, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useDefaults } from '../../api/defaults.ts';
import type { Problem } from '../../api/problem.ts';
import { useSecrets } from '../../api/secrets.ts';
import type { Defaults, Definition, JobDefaults } from '../../api/types.ts';
import { valuesOf } from '../../lib/defaultsReview.ts';
import { inheritanceOf, merged } from '../../lib/effective.ts';
import { allGroups, groupLine } from '../../lib/groups.ts';
import { labelled, sentences } from '../../lib/lists.ts';
import { visible } from '../../lib/visible.ts';
import { toYaml } from '../../lib/yaml.ts';
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx';
import { DefaultsReview } from '../../parts/DefaultsReview.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { faultText } from '../../parts/problemText.ts';
import { useCan } from '../../parts/session.ts';
import { Waiting } from '../../parts/Waiting.tsx';
import { FormContext, unnamedIn, type Fresh, type FormView } from './context.ts';
import { JobDocument } from './document/JobDocument.ts';
import { same } from '../../lib/same.ts';
import { pathOf } from './document/paths.ts';
import classes from './Editor.module.css';
import fieldClasses from './fields.module.css';
import { Fold } from './Fold.tsx';
import { FoldsContext, useFoldsState } from './folds.ts';
import { Inherited } from './Inherited.tsx';
import { Text } from './inputs.tsx';
import { fieldOf } from './labels.ts';
import { NamedRows } from './NamedRows.tsx';
import { Notify } from './sections/Notify.tsx';
import { WorkerChoice } from './sections/Placement.tsx';
import { History, Retry } from './sections/Policies.tsx';
import { Zone } from './sections/Schedule.tsx';
import { useEnvTexts } from './useEnvTexts.ts';

/** Edits the defaults of the group in the address. */
export function DefaultsEditorPage() {
  const { t } = useTranslation();
  const { group = allGroups } = useSearch({ from: '/defaults/edit' });
  const mayEdit = useCan('editor', group === allGroups ? '' : group);
  const defaults = useDefaults();
  // The editor keeps the version that it opened.
  const [opened, setOpened] = useState<{ of: string; all: readonly JobDefaults[] } | undefined>();
  const all = opened?.of === group ? opened.all : defaults.isFetchedAfterMount || !defaults.isStale ? defaults.data?.items : undefined;
  if (all && opened?.of !== group) setOpened({ of: group, all });
  if (!mayEdit) {
    const title = group === allGroups ? t('defaults.allTitle') : t('defaults.ofTitle', { group: visible(group) });
    return (
      <>
        <PageHead title={title} name={title} />
        <EmptyPage icon="key" title={t(group === allGroups ? 'defaults.notAdmin' : 'defaults.notEditor')}><Link to="/defaults" search={{ group }}>{title}</Link></EmptyPage>
      </>
    );
  }
  if (all) return <DefaultsEditor key={group} group={group} all={all} />;
  return defaults.error ? <ProblemNotice error={defaults.error} onRetry={() => void defaults.refetch()} /> : <Waiting rows={8} />;
}

/** The form: sections of the job editor, on a document that has only what defaults can set. */
function DefaultsEditor({ group, all }: { group: string; all: readonly JobDefaults[] }) {
  const { t, i18n } = useTranslation();
  const navigate = useNavigate();
  const stored = all.find((one) => one.group === group);
  const [base] = useState(() => valuesOf(stored ?? {}));
  const [doc] = useState(() => new JobDocument(Object.keys(base).length > 0 ? toYaml(base as Definition) : ''));
  const snapshot = useSyncExternalStore(doc.subscribe, doc.snapshot);
  const [fresh, setRows] = useState<Fresh>({});
  const setFresh = useCallback<FormView['setFresh']>((field, row) => setRows((before) => ({ ...before, [field]: row })), []);
  const [refused, setRefused] = useState<{ error: Problem; of: Definition } | undefined>();
  const [reviewed, setReviewed] = useState<Defaults | undefined>();
  const [saved, setSaved] = useState(false);
  const folds = useFoldsState();
  const secrets = useSecrets(useCan('editor')).data?.items.map((secret) => `secret:${secret.name}`);
  const envTexts = useEnvTexts();
  const definition = useMemo(() => snapshot.good.definition ?? ({} as Definition), [snapshot.good]);
  // These defaults themselves inherit from those around them.
  const whole = useMemo(() => merged(definition, inheritanceOf({ ...definition, ...(groupLine(group)[1] !== undefined && { group: groupLine(group)[1] }) }, group === allGroups ? [] : all)), [definition, group, all]);
  const unnamed = unnamedIn(fresh).length > 0;
  const dirty = !same(base, definition) || unnamed;
  const blocker = useBlocker({ shouldBlockFn: () => dirty && !saved, enableBeforeUnload: () => dirty && !saved, withResolver: true });
  const form = useMemo((): FormView => {
    // Those of values that were changed since are outdated.
    const theirs = (refused?.error.faults ?? []).filter((fault) => {
      const [head = ''] = pathOf(fault.location, refused?.of);
      return same((refused?.of as Record<string, unknown> | undefined)?.[head], (definition as Record<string, unknown>)[head]);
    }).map((fault) => {
      const path = pathOf(fault.location, refused?.of);
      const words = visible(faultText(t, i18n.language, fault));
      return { field: fieldOf(path), text: path[0] === 'env' && path.length > 1 ? labelled(String(path[1]), words, i18n.language) : words };
    });
    const own = snapshot.parsed.faults.map((fault) => ({ field: fieldOf(pathOf(fault.location, snapshot.parsed.definition)), text: t(`editor.own.${fault.kind === 'syntax' ? 'text' : fault.kind}`) }));
    const errorAt = (field: string) => sentences([...own, ...theirs].filter((fault) => fault.field === field).map(({ text }) => text), i18n.language) || undefined;
    return { doc, definition, whole, isNew: stored === undefined, errorAt, warningAt: () => undefined, redirect: undefined, placement: undefined, fresh, setFresh };
  }, [doc, definition, whole, stored, refused, snapshot.parsed, fresh, setFresh, t, i18n.language]);
  const title = group === allGroups ? t('defaults.editAllTitle') : t('defaults.editTitle', { group: visible(group) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { parsed } = doc.settled();
    if (!unnamed && parsed.faults.length === 0 && parsed.definition) setReviewed(valuesOf(parsed.definition as Partial<JobDefaults>));
    else if (parsed.text.trim() === '' && !unnamed) setReviewed({});
  };
  if (saved) return <Navigate to="/defaults" search={{ group }} />;
  const rest = refused?.error.faults.filter((fault) => fieldOf(pathOf(fault.location, refused.of)) === undefined) ?? [];
  return (
    <FormContext value={form}>
      <FoldsContext value={folds}>
        <form onSubmit={submit} noValidate className={classes.form} data-defaults={group}>
          <PageHead title={title} name={title}>
            <Button size="sm" variant="default" onClick={() => folds.setAll(!folds.all)}>{folds.all ? t('editor.foldAll') : t('editor.unfoldAll')}</Button>
          </PageHead>
          <p className="small dim">{t('defaults.formHelp')}</p>
          <div className={classes.columns} data-view="form">
            <div className={classes.fields}>
              <Panel title={t('defaults.more')}>
                <div className={fieldClasses.stack}>
                  <Zone />
                  <NamedRows field="env" suggestions={secrets} texts={envTexts} />
                  <Inherited field="timeout" />
                  <div className={fieldClasses.pair}>
                    <Text path={['timeout']} />
                    <Text path={['lostAfter']} />
                  </div>
                </div>
              </Panel>
              <Notify />
              <Retry />
              <Fold id="placement" title={t('policy.placement')} fields={['placement.strategy', 'placement.selector', 'placement.workers']}>
                <div className={fieldClasses.stack}><WorkerChoice /></div>
              </Fold>
              <History />
            </div>
          </div>
          {unnamed && <p className={fieldClasses.warning}>{t('editor.own.unnamed')}</p>}
          {refused && rest.length > 0 && <ProblemNotice error={refused.error} faults={rest} />}
          <div className={classes.foot}>
            <Group gap="sm">
              <Button type="submit">{t('defaults.review')}</Button>
              <Button variant="default" onClick={() => void navigate({ to: '/defaults', search: { group } })}>{t('common.cancel')}</Button>
            </Group>
          </div>
        </form>
        {reviewed && (
          <DefaultsReview
            group={group} values={reviewed} version={stored?.version} act="save" onSaved={() => setSaved(true)} onClose={() => setReviewed(undefined)}
            onRefused={(error) => {
              setRefused({ error, of: definition });
              setReviewed(undefined);
            }}
          />
        )}
        {blocker.status === 'blocked' && (
          <ConfirmDialog title={t('editor.leaveTitle')} confirm={t('editor.leave')} cancel={t('editor.stay')} onCancel={blocker.reset} onConfirm={blocker.proceed}>{t('editor.leaveText')}</ConfirmDialog>
        )}
      </FoldsContext>
    </FormContext>
  );
}
