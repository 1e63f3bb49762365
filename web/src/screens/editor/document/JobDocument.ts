import { history, redo, redoDepth, undo, undoDepth } from '@codemirror/commands';
import { Compartment, EditorState, Transaction, type Extension } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { differenceOf, renameAt, setAt } from './change.ts';
import { parse, type Parsed } from './parse.ts';
import type { Path } from './paths.ts';

export interface Snapshot {
  parsed: Parsed;
  /** The last text that could be parsed, which the form shows. */
  good: Parsed;
  canUndo: boolean;
  canRedo: boolean;
  /** The text has changed since: it is parsed once typing pauses. */
  stale: boolean;
}

/** Milliseconds that parsing may take at each key; a longer text, that of a flow of a thousand steps, is parsed in pauses. */
const fluent = 40;
const pause = 300;

/**
 * The document behind the form and the YAML: its text with one undo history for both. The form changes values by path,
 * each as a small edit of the text; the editor view edits the text itself.
 */
export class JobDocument {
  #state: EditorState;
  #view: EditorView | undefined;
  #snapshot: Snapshot;
  /** How long the text took to be parsed. */
  #cost = 0;
  #later: ReturnType<typeof setTimeout> | undefined;
  /** The text is changed at once, not by typing into it. */
  #atOnce = false;
  readonly #listeners = new Set<() => void>();
  readonly #look = new Compartment();

  constructor(text: string) {
    this.#state = EditorState.create({ doc: text, extensions: [history(), this.#look.of([]), EditorState.tabSize.of(2)] });
    const parsed = this.#read(text);
    this.#snapshot = { parsed, good: parsed, canUndo: false, canRedo: false, stale: false };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): Snapshot => this.#snapshot;

  /** Returns the snapshot of the present text. */
  settled(): Snapshot {
    if (this.#snapshot.stale) this.#parse();
    return this.#snapshot;
  }

  get text(): string {
    return this.#state.doc.toString();
  }

  get state(): EditorState {
    return this.#state;
  }

  /** Sets the value at a path; undefined removes it. Edits within half a second are undone together. */
  set(path: Path, value: unknown): void {
    this.write(setAt(this.text, path, value), 'input.type.form');
  }

  /** Sets several values, which are undone together. */
  setAll(entries: readonly (readonly [Path, unknown])[]): void {
    this.write(entries.reduce((text, [path, value]) => setAt(text, path, value), this.text), 'input.fill');
  }

  rename(path: Path, name: string): void {
    this.write(renameAt(this.text, path, name), 'input.type.form');
  }

  /** Replaces the text. */
  write(text: string, userEvent = 'input.replace'): void {
    if (text !== this.text) this.#dispatch(this.#state.update({ changes: differenceOf(this.text, text), annotations: Transaction.userEvent.of(userEvent) }));
  }

  undo(): void {
    undo({ state: this.#state, dispatch: (tr) => this.#dispatch(tr) });
  }

  redo(): void {
    redo({ state: this.#state, dispatch: (tr) => this.#dispatch(tr) });
  }

  /** Attaches a view, which shows and edits the text, until the returned function is called. */
  attach(view: EditorView): () => void {
    this.#view = view;
    return () => {
      if (this.#view === view) this.#view = undefined;
    };
  }

  /** Updates the document from a view. */
  take(state: EditorState): void {
    const before = this.#state;
    this.#state = state;
    if (before.doc === state.doc) return;
    if (this.#atOnce || this.#cost <= fluent) return this.#parse();
    clearTimeout(this.#later);
    this.#later = setTimeout(() => this.#parse(), Math.max(pause, this.#cost));
    if (!this.#snapshot.stale) this.#publish({ ...this.#snapshot, stale: true, canUndo: undoDepth(state) > 0, canRedo: redoDepth(state) > 0 });
  }

  #parse(): void {
    clearTimeout(this.#later);
    const parsed = this.#read(this.text);
    const state = this.#state;
    this.#publish({ parsed, good: parsed.definition ? parsed : this.#snapshot.good, canUndo: undoDepth(state) > 0, canRedo: redoDepth(state) > 0, stale: false });
  }

  #read(text: string): Parsed {
    const began = performance.now();
    const parsed = parse(text);
    this.#cost = performance.now() - began;
    return parsed;
  }

  #publish(snapshot: Snapshot): void {
    this.#snapshot = snapshot;
    for (const listener of this.#listeners) listener();
  }

  /** Extensions of a view; not part of the history. */
  setLook(look: Extension): void {
    this.#dispatch(this.#state.update({ effects: this.#look.reconfigure(look) }));
  }

  #dispatch(transaction: Transaction): void {
    this.#atOnce = true;
    try {
      if (this.#view) this.#view.dispatch(transaction);
      else this.take(transaction.state);
    } finally {
      this.#atOnce = false;
    }
  }
}
