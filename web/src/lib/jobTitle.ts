/** Returns the name of a job for a sentence: its title with the name in parentheses, or the name alone. */
export function titled({ name, title }: { name: string; title?: string | undefined }): string {
  return title ? `${title} (${name})` : name;
}
