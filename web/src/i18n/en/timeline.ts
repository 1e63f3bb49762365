export const timeline = {
  timeline: { title: 'Timeline' },
};
