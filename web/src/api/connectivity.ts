// Whether the server responds. The query client reports it; the banner and the session gate subscribe.

export class Connectivity {
  #away = false;
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly isAway = (): boolean => this.#away;

  report(away: boolean): void {
    if (away === this.#away) return;
    this.#away = away;
    for (const listener of this.#listeners) listener();
  }
}
