// An editor for YAML. It is in a shadow root, where its styles are adopted sheets, which the content security policy
// allows.

import { autocompletion, closeCompletion, completionKeymap, type CompletionSource } from '@codemirror/autocomplete';
import { defaultKeymap, historyKeymap, indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, indentOnInput } from '@codemirror/language';
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers, placeholder } from '@codemirror/view';
import { theme } from './theme.ts';

/** The edited document. */
export interface EditedDocument {
  state: EditorState;
  attach: (view: EditorView) => () => void;
  take: (state: EditorState) => void;
  setLook: (look: Extension) => void;
}

export interface EditorTexts {
  label: string;
  /** Description for screen readers. */
  help: string;
  /** Placeholder of an empty document. */
  placeholder: string;
  /** Translations of the editor's own phrases, by their English. */
  phrases: Record<string, string>;
}

export interface CodeEditor {
  setFaults: (faults: readonly Diagnostic[]) => void;
  /** Moves the cursor to a position. */
  show: (from: number, to: number) => void;
  focus: () => void;
  destroy: () => void;
}

/**
 * When the user types over a selection, the browser would preserve its look in a style attribute, which the policy does
 * not allow.
 */
function replace(event: InputEvent, view: EditorView): boolean {
  if (event.inputType !== 'insertText' || event.data === null || view.composing || view.state.selection.main.empty) return false;
  view.dispatch(view.state.update(view.state.replaceSelection(event.data), { userEvent: 'input.type', scrollIntoView: true }));
  return true;
}

function look(texts: EditorTexts, complete: CompletionSource, paste: ((text: string) => boolean) | undefined, moved: ((at: number) => void) | undefined): Extension {
  return [
    yaml(), lineNumbers(), lintGutter(), drawSelection(), highlightActiveLine(), highlightActiveLineGutter(), bracketMatching(), indentOnInput(), theme, EditorView.lineWrapping,
    autocompletion({ override: [complete], icons: false, activateOnTyping: true }),
    keymap.of([...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap, indentWithTab]),
    placeholder(texts.placeholder),
    EditorState.phrases.of(texts.phrases),
    EditorView.contentAttributes.of({ 'aria-label': texts.label, 'aria-description': texts.help, spellcheck: 'false', autocapitalize: 'off', tabindex: '0' }),
    EditorView.updateListener.of(({ state, selectionSet, docChanged }) => (selectionSet || docChanged) && moved?.(state.selection.main.head)),
    EditorView.domEventHandlers({ paste: (event) => paste?.(event.clipboardData?.getData('text/plain') ?? '') ?? false, beforeinput: replace }),
  ];
}

/** Attaches an editor in a shadow root of the host; moved is called with the position of the cursor. */
export function createEditor(host: HTMLElement, doc: EditedDocument, texts: EditorTexts, complete: CompletionSource, paste?: (text: string) => boolean, moved?: (at: number) => void): CodeEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  doc.setLook(look(texts, complete, paste, moved));
  const view = new EditorView({
    state: doc.state,
    parent: root,
    root,
    dispatchTransactions: (transactions, editor) => {
      editor.update(transactions);
      doc.take(editor.state);
    },
  });
  const detach = doc.attach(view);
  // The console's shortcuts would receive the keys without seeing that they are typed into a field.
  const quiet = (event: KeyboardEvent) => {
    if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
  };
  host.addEventListener('keydown', quiet);
  return {
    setFaults: (faults) => {
      // The text may have become shorter than the one in which they were found.
      const end = view.state.doc.length;
      view.dispatch(setDiagnostics(view.state, faults.map((fault) => ({ ...fault, from: Math.min(fault.from, end), to: Math.min(fault.to, end) }))));
    },
    show: (from, to) => {
      view.dispatch({ selection: { anchor: from, head: to }, scrollIntoView: true });
      view.focus();
    },
    focus: () => view.focus(),
    destroy: () => {
      host.removeEventListener('keydown', quiet);
      closeCompletion(view);
      detach();
      view.destroy();
    },
  };
}

export type { CompletionSource };
