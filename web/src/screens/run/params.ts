import type { Param } from '../../api/types.ts';

export interface EffectiveParam {
  name: string;
  value: string;
  /** The trigger did not set it. */
  isDefault: boolean;
}

/** Returns the parameters in the order of the definition, then those that only the trigger names. */
export function effectiveParams(declared: Record<string, Param> | undefined, given: Record<string, string> | undefined): EffectiveParam[] {
  const names = [...new Set([...Object.keys(declared ?? {}), ...Object.keys(given ?? {})])];
  return names.map((name) => ({ name, value: given?.[name] ?? declared?.[name]?.default ?? '', isDefault: given?.[name] === undefined }));
}
