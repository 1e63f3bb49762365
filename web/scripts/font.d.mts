export const target: string;
export function makeFont(): Promise<Buffer>;
