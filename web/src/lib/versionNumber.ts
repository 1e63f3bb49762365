/** Returns the number of a version for people; old versions whose number is unknown are shown by their revision. */
export function versionNumber({ version, number }: { version: number; number?: number | undefined }): number {
  return number ?? version;
}
