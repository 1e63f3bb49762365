export const guide = {
  guide: {
    title: 'Guide', page: 'Page', contents: 'Pages of the guide', unknown: 'The guide has no such page.', toFirst: 'Open the first page', code: 'Code', table: 'Table',
    parts: { start: 'Start', jobs: 'Jobs', operation: 'Operation', inside: 'How it works' },
    pages: {
      README: 'Introduction', console: 'Web console', cronctl: 'Command line: cronctl', 'migrate-from-crontab': 'Move from crontab', glossary: 'Glossary', CHANGELOG: 'What’s new',
      jobs: 'Jobs', cron: 'Schedules', flows: 'Flows', types: 'Job types', daemons: 'Daemon jobs', sdk: 'Go functions as jobs', history: 'History and output', notifications: 'Notifications', maintenance: 'Maintenance windows', secrets: 'Secrets', hooks: 'Web hooks', 'run-as': 'Users of commands', lock: 'Named locks',
      deploy: 'Deployment', configuration: 'Configuration', access: 'Users and roles', sso: 'Single sign-on', security: 'Security', audit: 'Audit', metrics: 'Metrics', backup: 'Backup',
      architecture: 'Architecture', reliability: 'Reliability', protocol: 'Protocol', benchmarks: 'Benchmarks',
    },
  },
};
