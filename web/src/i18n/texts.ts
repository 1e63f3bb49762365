/** The same keys, in another language. */
export type Texts<T> = { [K in keyof T]: T[K] extends string ? string : T[K] extends Record<string, unknown> ? Texts<T[K]> : never };
