import { useTranslation } from 'react-i18next';
import { Panel } from '../../../parts/Panel.tsx';
import { useForm } from '../context.ts';
import classes from '../fields.module.css';
import { Area, Text } from '../inputs.tsx';
import { NamedRows } from '../NamedRows.tsx';

export function Identity() {
  const { t } = useTranslation();
  const { isNew } = useForm();
  return (
    <Panel title={t('editor.what')}>
      <div className={classes.stack}>
        <div className={classes.pair}>
          <Text path={['name']} required={isNew} readOnly={!isNew} autoFocus={isNew} help={isNew ? undefined : t('editor.nameFixed')} />
          <Text path={['group']} />
        </div>
        <Text path={['title']} mono={false} />
        <Area path={['description']} mono={false} rows={1} />
        <NamedRows
          field="labels"
          texts={{
            add: t('editor.labelAdd'), name: t('editor.envName'), value: t('editor.envValue'), nameOf: (n) => t('editor.labelNameOf', { n }), valueOf: (n) => t('editor.labelValueOf', { n }),
            remove: (name) => (name ? t('editor.labelRemove', { name }) : t('editor.labelRemoveUnnamed')),
          }}
        />
      </div>
    </Panel>
  );
}
