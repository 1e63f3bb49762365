import { createTheme, Modal } from '@mantine/core';

// Mantine's own variables come from its static style sheet and theme.css: nothing is injected, so that the page runs
// under a policy without inline styles. Keep the colour here and the overrides in theme.css together.
export const theme = createTheme({
  primaryColor: 'cyan',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // The scroll lock would inject a style element. The header of a dialog is not that of the page.
    Modal: Modal.extend({ defaultProps: { lockScroll: false, centered: true, attributes: { header: { role: 'none' } } } }),
  },
});
