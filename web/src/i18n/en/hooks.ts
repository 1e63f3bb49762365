/** The web hooks of a job. */
export const hooks = {
  hooks: {
    title: 'Web hooks', help: 'A URL that starts the job without a token: for a git host, a monitor or a form on a web page. The guide has examples.',
    new: 'New…', none: 'None: nothing starts the job by a URL.', disabled: 'Disabled', unsigned: 'No signature', perMinute: '{{most}} a minute', sets: 'Sets {{params}}', createdAt: 'Created', rotatedAt: 'URL replaced',
    actionsFor: 'Actions for web hook {{name}}', edit: 'Edit…', rotate: 'New URL…', enable: 'Enable', disable: 'Disable', delete: 'Delete…',
    newTitle: 'New web hook', editTitle: 'Edit web hook {{name}}', create: 'Create', name: 'Name', nameHelp: 'Its runs are shown as started by hook:NAME.', nameTaken: 'The job has a web hook of this name.',
    params: 'Parameters', paramsHelp: 'Where the values come from. A request without a value is refused, unless the value may be missing.', sourceOf: '{{kind}} for {{name}}', optional: 'May be missing: then the default', optionalOf: '{{name}} may be missing: then the default',
    sources: { none: 'Default', path: 'Path in a JSON body', field: 'Form field or query', value: 'Fixed value' },
    signature: 'Signature', signatures: { github: 'GitHub signature', gitlab: 'GitLab token', timestamp: 'Signature with time' },
    signatureHelp: { none: 'Everyone who has the URL can start the job.', github: 'X-Hub-Signature-256; also Gitea and Forgejo.', gitlab: 'X-Gitlab-Token: the secret itself.', timestamp: 'X-Carillon-Signature: HMAC-SHA256 with a time, at most 5 minutes old.' },
    secret: 'Secret', secretHelp: 'Leave it empty for a random one, which is shown once.', secretKept: 'Leave it empty to keep the secret.', rate: 'Requests a minute', rateHelp: 'More are refused until the minute has passed.',
    saved: 'Web hook {{name}} was saved.', onceTitle: 'Web hook {{name}}', urlOnce: 'The URL, which is not shown again:', secretOnce: 'The secret of the signature, which is not shown again:', copied: 'I have copied it',
    rotateTitle: 'New URL for {{name}}?', rotateText: 'The current URL starts nothing from then on. The sender needs the new one.', rotateConfirm: 'Replace the URL',
    deleteTitle: 'Delete web hook {{name}}?', deleteText: 'Its URL starts nothing from then on.', deleteConfirm: 'Delete the web hook', deleted: 'Web hook {{name}} was deleted.',
  },
};
