import { Button, Group, Modal, NativeSelect, Stack, TagsInput, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useGroupNames } from '../../api/names.ts';
import { Problem } from '../../api/problem.ts';
import { useMakeToken } from '../../api/tokens.ts';
import type { Role, TokenDefinition } from '../../api/types.ts';
import { roles, useUsers } from '../../api/users.ts';
import { useSession } from '../../parts/session.ts';
import { sentences } from '../../lib/lists.ts';
import { visible } from '../../lib/visible.ts';
import { CopyLine } from '../../parts/CopyLine.tsx';
import { fieldFaults } from '../../parts/fieldFaults.ts';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import classes from './access.module.css';
import { UserDialog } from './UserDialog.tsx';

const fields = ['name', 'role', 'user', 'groups', 'expiresIn'] as const;
const lives = { d1: '1d', d7: '7d', d30: '30d', d90: '90d', d365: '365d', never: 'never' } as const;
type Life = keyof typeof lives;

interface Props {
  user: string;
  /** The owner can be chosen: for admins. */
  choosesUser: boolean;
  onClose: () => void;
}

/** Creates a token and shows its text, which cannot be shown again. */
export function TokenDialog({ user, choosesUser, onClose }: Props) {
  const { t, i18n } = useTranslation();
  const me = useSession();
  const users = useUsers('', choosesUser);
  const make = useMakeToken();
  const groupNames = useGroupNames();
  const [form, setForm] = useState<{ name: string; role: Role; user: string; groups: string[]; life: Life }>({ name: '', role: 'viewer', user: user || (me.user ?? ''), groups: [], life: 'd90' });
  const { at, rest } = fieldFaults(t, i18n.language, make.error, fields);
  const [making, setMaking] = useState(false);
  const set = (part: Partial<typeof form>) => {
    setForm({ ...form, ...part });
    if (make.isError) make.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { groups } = form;
    const definition: TokenDefinition = { name: form.name.trim(), role: form.role, expiresIn: lives[form.life], ...(form.user !== '' && { user: form.user }), ...(groups.length > 0 && { groups }) };
    make.mutate(definition);
  };
  if (make.data) return <MadeToken name={make.data.name} token={make.data.token ?? ''} onClose={onClose} />;
  const owners = [...new Set([me.user ?? '', user, form.user, ...(users.data?.items.map((one) => one.name) ?? [])])].filter((name) => name !== '').sort();
  return (
    <Modal opened closeOnEscape={!making} onClose={onClose} title={t('tokens.newTitle')} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <TextInput label={t('tokens.name')} description={t('tokens.nameHelp')} placeholder="nightly deploy" required data-autofocus maxLength={100} value={form.name} error={at('name')} onChange={(e) => set({ name: e.currentTarget.value })} />
          {choosesUser && (
            <Group align="flex-end" gap="xs" wrap="nowrap">
              <NativeSelect
                className={classes.grows} label={t('tokens.user')} description={t('tokens.userHelp')} value={form.user} error={at('user')}
                data={[...(form.user === '' || me.user === undefined ? [{ value: '', label: t('tokens.ofNoUser') }] : []), ...owners.map((value) => ({ value, label: visible(value) }))]} onChange={(e) => set({ user: e.currentTarget.value })}
              />
              <Button variant="default" title={t('tokens.newUserHelp')} onClick={() => setMaking(true)}>{t('tokens.newUser')}</Button>
            </Group>
          )}
          <NativeSelect
            label={t('tokens.role')} description={sentences([t(`access.roleHelp.${form.role}`), t('tokens.roleHelp')], i18n.language)} value={form.role} error={at('role')}
            data={roles.map((value) => ({ value, label: t(`roles.${value}`) }))} onChange={(e) => set({ role: e.currentTarget.value as Role })}
          />
          <TagsInput
            label={t('tokens.onlyGroups')} description={t('tokens.onlyGroupsHelp')} data={[...groupNames]} splitChars={[',', ' ']} limit={50} spellCheck={false} autoCapitalize="none" value={form.groups} error={at('groups')} onChange={(groups) => set({ groups })}
          />
          <NativeSelect
            label={t('tokens.life')} description={t('tokens.lifeHelp')} value={form.life} error={at('expiresIn')}
            data={(Object.keys(lives) as Life[]).map((value) => ({ value, label: t(`tokens.lives.${value}`) }))} onChange={(e) => set({ life: e.currentTarget.value as Life })}
          />
          {make.error && (!(make.error instanceof Problem && make.error.code === 'invalid') || rest.length > 0) && <ProblemNotice error={make.error} faults={rest} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>{t('common.cancel')}</Button>
            <Button type="submit" loading={make.isPending}>{t('tokens.create')}</Button>
          </Group>
        </Stack>
      </form>
      {making && <UserDialog user={undefined} onMade={(name) => set({ user: name })} onClose={() => setMaking(false)} />}
    </Modal>
  );
}

// Closes with its button only: a click beside it would lose the token's text.
function MadeToken({ name, token, onClose }: { name: string; token: string; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Modal opened onClose={onClose} title={t('tokens.madeTitle', { name: visible(name) })} withCloseButton={false} closeOnClickOutside={false} closeOnEscape={false}>
      <Stack gap="md">
        <p>{t('tokens.madeText')}</p>
        <div className={classes.token} data-token=""><CopyLine>{token}</CopyLine></div>
        <div>
          <p className="small">{t('tokens.madeUse')}</p>
          <CopyLine>{`curl -H "Authorization: Bearer $(cat deploy.token)" ${window.location.origin}/api/v1/auth/me`}</CopyLine>
        </div>
        <Group justify="flex-end"><Button data-autofocus onClick={onClose}>{t('tokens.done')}</Button></Group>
      </Stack>
    </Modal>
  );
}
