import type { Hook, HookDefinition, HookSource } from '../../api/types.ts';

export type SourceKind = 'none' | 'path' | 'field' | 'value';
export const sourceKinds = ['none', 'path', 'field', 'value'] as const;
export const signatures = ['github', 'gitlab', 'timestamp'] as const;
export const defaultRate = 30;

export interface SourceForm {
  kind: SourceKind;
  text: string;
  /** A delivery without the value starts the run with the default. */
  optional?: boolean;
}

export interface HookForm {
  name: string;
  sources: Record<string, SourceForm>;
  signature: '' | (typeof signatures)[number];
  secret: string;
  rate: number;
}

/** The form of a hook; params are the names of the parameters that the job declares. */
export function hookForm(hook: Hook | undefined, params: readonly string[]): HookForm {
  const names = [...new Set([...params, ...Object.keys(hook?.params ?? {})])];
  return {
    name: hook?.name ?? '',
    sources: Object.fromEntries(names.map((name) => [name, sourceOf(hook?.params?.[name])])),
    signature: hook?.signature ?? '',
    secret: '',
    rate: hook?.rate ?? defaultRate,
  };
}

function sourceOf(source: HookSource | undefined): SourceForm {
  const optional = source?.optional && { optional: true };
  if (source?.path !== undefined) return { kind: 'path', text: source.path, ...optional };
  if (source?.field !== undefined) return { kind: 'field', text: source.field, ...optional };
  if (source?.value !== undefined) return { kind: 'value', text: source.value };
  return { kind: 'none', text: '' };
}

/** What the form defines; fields that it does not show stay as they are in the hook. */
export function definitionOfHook(form: HookForm, hook?: Hook): HookDefinition {
  const params = Object.fromEntries(Object.entries(form.sources).filter(([, { kind }]) => kind !== 'none')
    .map(([name, { kind, text, optional }]) => [name, { [kind]: text, ...(optional && kind !== 'value' && { optional }) }]));
  return {
    ...(Object.keys(params).length > 0 && { params }),
    ...(form.signature && { signature: form.signature, ...(form.secret && { secret: form.secret }), ...(hook?.header && { header: hook.header }) }),
    rate: form.rate,
    ...(hook?.disabled && { disabled: true }),
  };
}

/** The definition of a hook as it is, apart from whether it is disabled. */
export const withState = (hook: Hook, disabled: boolean): HookDefinition => ({
  ...(hook.params && { params: hook.params }), ...(hook.signature && { signature: hook.signature }), ...(hook.header && { header: hook.header }), rate: hook.rate, ...(disabled && { disabled }),
});

/** The address of a hook; a server that does not know its own address answers with a path. */
export const hookAddress = (url: string, origin: string): string => new URL(url, origin).href;
