import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

// Colours are the page's variables, which reach into the shadow root, so it follows the theme.
const look = EditorView.theme({
  '&': { height: '100%', fontSize: '0.8125rem', color: 'var(--mantine-color-text)', backgroundColor: 'var(--c-log)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mantine-font-family-monospace)', lineHeight: '1.55', overflow: 'auto' },
  '.cm-content': { padding: '0.5rem 0', caretColor: 'var(--mantine-color-text)' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground, .cm-content ::selection': { backgroundColor: 'var(--c-live-bg)' },
  '.cm-gutters': { backgroundColor: 'var(--c-log)', color: 'var(--mantine-color-dimmed)', borderRight: '1px solid var(--c-border)' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine, &.cm-focused .cm-activeLineGutter': { backgroundColor: 'var(--c-raised)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--c-live-bg)' },
  '.cm-gutter-lint': { width: '1.1rem' },
  '.cm-lint-marker': { width: '0.75rem', height: '0.75rem', content: 'none', borderRadius: '50%', margin: '0.28rem auto 0' },
  '.cm-lint-marker-error': { backgroundColor: 'var(--c-bad-fill)' },
  '.cm-lint-marker-warning': { backgroundColor: 'transparent', border: '2px solid var(--c-warn)', boxSizing: 'border-box' },
  '.cm-lintRange': { backgroundImage: 'none', textDecoration: 'underline wavy', textUnderlineOffset: '0.2em', textDecorationThickness: '1px' },
  '.cm-lintRange-error': { textDecorationColor: 'var(--c-bad)' },
  '.cm-lintRange-warning': { textDecorationColor: 'var(--c-warn)' },
  '.cm-tooltip': { backgroundColor: 'var(--c-surface)', color: 'var(--mantine-color-text)', border: '1px solid var(--c-border)', borderRadius: '0.375rem', maxWidth: 'min(32rem, 90vw)' },
  '.cm-diagnostic': { padding: '0.4rem 0.6rem', fontFamily: 'var(--mantine-font-family)', whiteSpace: 'normal', overflowWrap: 'anywhere' },
  '.cm-diagnostic-error': { borderLeft: '4px solid var(--c-bad)' },
  '.cm-diagnostic-warning': { borderLeft: '4px solid var(--c-warn)' },
  '.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mantine-font-family-monospace)', maxHeight: '14rem', borderRadius: 'inherit' },
  '.cm-tooltip-autocomplete > ul > li': { padding: '0.2rem 0.5rem', lineHeight: '1.4' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--mantine-primary-color-filled)', color: '#fff' },
  '.cm-completionDetail': { fontFamily: 'var(--mantine-font-family)', fontStyle: 'normal', color: 'var(--mantine-color-dimmed)', marginLeft: '0.8rem' },
  'li[aria-selected] .cm-completionDetail': { color: 'inherit' },
  '.cm-completionInfo': { padding: '0.5rem 0.6rem', fontFamily: 'var(--mantine-font-family)', maxWidth: '20rem', whiteSpace: 'normal' },
  '.cm-placeholder': { color: 'var(--mantine-color-placeholder)', whiteSpace: 'pre-wrap' },
  '.cm-panels': { backgroundColor: 'var(--c-raised)', color: 'inherit' },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--mantine-color-anchor)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--c-ok)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--c-warn)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--mantine-color-dimmed)', fontStyle: 'italic' },
  { tag: [tags.labelName, tags.typeName, tags.meta], color: 'var(--c-live)' },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: 'var(--mantine-color-dimmed)' },
]);

export const theme = [look, syntaxHighlighting(colours)];
