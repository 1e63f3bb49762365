export const overview = {
  overview: { title: 'Overview' },
  charts: { showTable: 'Show as a table', hideTable: 'Hide the table', summary: '{{name}}: from {{min}} to {{max}}, last {{last}}' },
  lastDay: {
    title: 'Overview', now: 'Now', day: 'Last 24 hours', chart: 'How the fires of the last 24 hours ended, by hour; {{rate}} of the runs succeeded',
  },
};
