/**
 * Chinese for what the server says in English, by its codes: problems, faults of a field, remarks on a schedule, reasons of a fire
 * or a run, and why a worker may not run a job. English needs no such list. A code without an entry is shown in the server's own
 * words. What stands under …With is for a code with just these words of data, in the order of the alphabet.
 */
export const zhServer = {
  codes: {
    invalid: '部分内容无法接受。', not_found: '它不存在，或已被删除。', exists: '它已经存在。', stale: '在此期间已被他人修改。', conflict: '当前状态下无法执行此操作。',
    unauthenticated: '您尚未登录。', forbidden: '您的角色不允许此操作。', unavailable: '集群的一部分暂时不可用，请稍后重试。', too_large: '内容过大。',
    too_many_requests: '请求过多，请稍候。', internal: '服务器出错，详情见其日志。', unsupported_media_type: '服务器不接受此类内容。', method_not_allowed: '此处不允许该操作。',
  },
  problems: {
    role: '需要“{{need}}”角色，您的角色是“{{has}}”。', token_by_token: '令牌不能创建或撤销其他令牌，请用密码登录。', no_user: '当前登录不属于任何用户，无法拥有令牌。请向管理员申请令牌。', for_others: '只有管理员可以为他人创建令牌。',
    no_password: '您在此没有密码：您是用不属于任何用户的令牌，或通过其他系统登录的。', password_changed: '密码刚刚已被他人修改。', passwords_busy: '目前校验密码的请求过多，请稍后重试。',
    last_admin: '这是最后一位能够登录的管理员。请先将另一位设有密码的用户设为管理员。', last_admin_token: '此令牌是管理员登录的最后途径。请先创建一位设有密码的管理员。', too_many_tokens: '该用户已有 {{most}} 个令牌，达到上限。请删除不再使用的令牌。',
    busy: '它正被频繁修改，请重试。', ended: '运行已经结束。', named_alike: '有 {{count}} 个工作节点同名，请使用 ID 指明其中一个。', version_unreadable: '此版本由更新的程序写入，无法读取。', others_refused: '其他任务被拒绝，因此没有删除它。请修正后重新应用。',
    too_many_wait: '此任务已有 {{count}} 个运行在等待。请等待它们运行，或将其取消。', too_many_jobs: '符合筛选条件的任务超过 {{most}} 个，请缩小范围，例如限定分组。', too_many_follow: '目前跟随输出的人过多，请稍后重试。', not_begun: '等待中的变更过多，未做任何修改，请稍后重试。',
    etcd_away: 'etcd 没有响应，请几秒后重试。', etcd_login: 'etcd 不接受登录，请检查 etcd.username 和 etcd.password；如果刚刚修改过 etcd 用户，请重试。', etcd_full: 'etcd 已满，不接受写入。请腾出空间或提高配额，然后解除警报。', unsure: 'etcd 没有及时响应：操作可能已经完成，或即将完成。请先查看当前状态。', log_store_away: '日志存储没有响应，每隔几秒会自动重试。', changes_full: '有 {{count}} 条变更在 etcd 中等待写入日志存储，在此之前无法保存任务。请检查日志存储；运行不受影响。',
    search_slow: '日志存储响应过慢，暂时无法搜索。请重试，或缩小范围。', search_heavy: '在这么长的行中查找此表达式耗时过久，请使用更简单的表达式。', search_busy: '其他人正在搜索，请稍后重试。', stopping: '服务器正在停止，请重试。', group_unknown: '目前无法得知该任务所属的分组，请稍后重试。',
    login_attempts: '登录尝试次数过多，请稍后重试。', other_site: '请求来自其他网站，已被拒绝。',
  },
  faultsWith: {
    too_long: { characters: '最多 {{characters}} 个字符。', bytes: '最多 {{bytes}} 字节。' }, too_many: { most: '最多 {{most}} 项。' }, too_large: { size: '最大 {{size}}。' }, enum: { allowed: '只能是以下之一：{{allowed}}。' }, pattern: { pattern: '须匹配 {{pattern}}。' },
    range: { least_most: '须在 {{least}} 到 {{most}} 之间。', least: '不能小于 {{least}}。', most: '不能大于 {{most}}。', after: '须晚于“{{after}}”。', of_third: '不能超过“{{third}}”（{{of}}）的三分之一。', of_thrice: '至少为“{{thrice}}”（{{of}}）的三倍。' },
    exclusive: { beside: '不能与“{{beside}}”同时使用。', without: '没有“{{without}}”时不起作用。' },
    cron_syntax: { at_field: '此处缺少一个值。', at_field_text: '无法识别“{{text}}”。' }, cron_field_range: { at_field_text: '“{{text}}”超出范围。' }, cron_trailing: { at_field_text: '“{{text}}”不应出现在这里。' }, cron_range_reversed: { at_field_text: '范围“{{text}}”的终点早于起点。' },
    cron_step: { at_field_text: '“{{text}}”不能作为步长：须为不小于 1 的数字，且不超过字段范围。' }, cron_alias: { at_field_text: '“{{text}}”不是已知的写法；可用 @yearly、@monthly、@weekly、@daily、@hourly、@every 90s 和 @at 2026-12-01T09:00:00Z。' },
  },
  cron: { where: '“{{field}}”字段，第 {{at}} 个字符：' },
  cronTakes: {
    second: '此字段可用 0–59、H、*、?、列表、范围和步长。', minute: '此字段可用 0–59、H、*、?、列表、范围和步长。', hour: '此字段可用 0–23、H、*、?、列表、范围和步长。', 'day-of-month': '此字段可用 1–31、L、LW、15W、H、*、?、列表、范围和步长。',
    month: '此字段可用 1–12、JAN–DEC、H、*、?、列表、范围和步长。', 'day-of-week': '此字段可用 0–7（0 和 7 均为星期日）、SUN–SAT、5L、MON#1、H、*、?、列表、范围和步长。', year: '此字段可用 1970–2099、*、?、列表、范围和步长。',
  },
  notes: {
    dst_gap_run: '{{zone}} 的 {{local}} 不存在：改在 {{resume}} 触发，即时钟拨快后的第一刻。', dst_gap_skip: '{{zone}} 的 {{local}} 不存在：不触发。', dst_overlap_first: '{{zone}} 的 {{local}} 出现两次：在第一次时触发。',
    dst_overlap_second: '{{zone}} 的 {{local}} 出现两次：在第二次时触发。', dst_overlap_both: '{{zone}} 的 {{local}} 出现两次：两次都触发。', dst_real_time: '{{zone}} 的 {{local}} 出现两次：两次都按实际时间触发。',
    cron_either: '日期与星期均有限制：满足其一即触发。', cron_short_months: '没有这一天的月份不触发；L 表示每月的最后一天。', cron_uneven_step: '“{{field}}”字段的“{{text}}”：{{size}} 不是 {{step}} 的倍数，因此最后一步较短；@every 可保持均匀的间隔。',
    cron_every_minute: '“分”字段为 *：在所列的小时内每分钟触发；如需每小时一次，请写 0。', cron_quartz_days: '“?”来自 Quartz，其中星期 1 为星期日；而这里 0 和 7 为星期日，1 为星期一：请写 MON 这样的名称。', cron_hash_value: 'H 由任务名称得出，这里为：{{line}}',
  },
  notesWith: { dst_real_time: { local_resume_zone: '{{zone}} 的 {{local}} 不存在：时钟拨快到 {{resume}}，其后按实际时间触发。' } },
  words: {
    second: '秒', minute: '分', hour: '时', 'day-of-month': '日', month: '月', 'day-of-week': '星期', year: '年', expression: '表达式', startAt: '在此之前不触发', lostAfter: '视为丢失', killGrace: '强制终止前的宽限', cronExpr: 'Cron 表达式', paused: '已暂停', command: '命令', env: '环境变量',
    viewer: '查看者', operator: '操作员', editor: '编辑者', admin: '管理员', none: '无',
  },
  faults: {
    required: '必填。', too_long: '过长。', too_large: '过大。', too_many: '条目过多。', range: '超出允许范围。', enum: '不是允许的值。', invalid: '格式不正确。', pattern: '格式不正确。',
    name: '使用 1 至 128 个字符：a–z、0–9、“.”、“_”、“-”；首尾须为字母或数字；不能包含“..”。', mismatch: '与地址中的名称不一致。', unknown: '不是已知字段。',
    path: '必须是不含“..”的绝对路径。', duration: '不是有效的时长，请写成 90s、5m、1h30m 或 2d。', size: '不是有效的大小，请写成 512KiB、16MiB 或 1GiB。',
    utf8: '不是有效的 UTF-8。', nul: '不能包含 NUL 字符。', control: '必须为单行，且不含控制字符。', exclusive: '不能与另一选项同时使用。',
    env_name: '变量名由字母、数字和“_”组成，且不以数字开头。', env_reserved: '此变量由工作节点设置，或决定运行什么，不能用在这里。', user: '不是有效的用户名。', password: '密码至少 12 个字符、至多 1024 字节，不能与用户名相同，也不能只重复少数几个字符。', wrong: '与当前密码不符。', role: '超出该用户的角色。', unknown_user: '没有此用户。', label: '不是有效的标签。',
    cron_empty: '请填写 Cron 表达式。', cron_too_long: '最多 256 个字符。', cron_characters: '必须为单行，且只含可打印的 ASCII 字符。', cron_field_count: '需要 5 个、6 个或 7 个字段。',
    cron_six_fields: '六个字段有两种读法：请改写为七个字段，首位为秒，末位为年。', cron_zone_prefix: '时区请填写在“时区”字段中。', cron_alias: '不是已知的 @ 写法。',
    cron_trailing: '末尾有多余的内容。', cron_empty_item: '两个逗号之间没有内容。', cron_syntax: '含有无法识别的字符。', cron_field_range: '某个字段的值超出范围。',
    cron_range_reversed: '范围的终点早于起点。', cron_step: '步长不能为 0，也不能超过字段范围。', cron_hash: 'H 不能用在这里。', cron_day_step: '一个日期字段使用 */n 时，另一个不能再加限制：不同的 cron 对此理解不同。',
    cron_never: '此表达式永远不会触发。', cron_past: '此表达式的最后一次触发已经过去。', cron_every: '@every 需要至少 1 秒的时长，例如 @every 90s。', cron_at: '@at 需要 RFC 3339 时间，例如 @at 2030-01-01T09:00:00+08:00。',
    cron_engine: '无法计算此表达式。', zone_missing: '请填写时区。', zone_local: '“Local”因机器而异，请写成 Asia/Shanghai 这样的名称。', zone_unknown: '不是已知的时区，请写成 Asia/Shanghai 这样的名称。',
    dst_gap: '不是已知的规则。', dst_overlap: '不是已知的规则。',
    idempotency_key: '须为最多 128 个可打印的 ASCII 字符。', idempotency_reused: '此键已用于另一个请求。', unknown_worker: '没有此名称或 ID 的存活工作节点。', past: '须为将来的时间。',
    selector: '无法识别的选择器，请写成 zone=a,disk!=slow 的形式。', type: '类型不正确。', integer: '须为整数。', number: '须为数字。', time: '不是有效的时间，请写成 2030-01-01T09:00:00+08:00 的形式。',
    json: '不是有效的 JSON。', duplicate: '同一名称出现了两次。', twice: '出现了两次。', conflict: '不能与另一选项同时使用。', length: '长度须为 8 至 4096 字节：过短的值会在无关的文本中被误认并遮盖。', deleted: '这是删除时的版本，请选择它之前的一个。', depth: '嵌套过深。', trailing: '末尾有多余的内容。', incomplete: '内容不完整。', media_type: '不接受此类内容。',
    unknown_secret: '没有此密钥。', unknown_channel: '没有此渠道。', disabled_channel: '此渠道已停用，启用之前不会有人收到通知。', unplaced: '目前没有工作节点可以运行它。', foreign_secret: '此密钥不供本分组的任务使用。', secret_name: '须引用一个密钥，例如 secret:db-password。',
    etag: '不是有效的版本标记。', cursor: '翻页位置无效，请从第一页重新开始。', query: '不是有效的查询。', run_id: '不是有效的运行 ID。',
  },
  crontab: {
    quiet: '开头的“-”（不写系统日志）已忽略。', user_name: '命令之前不是有效的用户名。', no_command: '没有命令。', other_user: '此版本不能以其他用户身份运行：{{value}}。', too_many: '条目过多，此行以下未读取。',
    sixth_field: '多于五个字段：{{value}} 会被当作命令。', system_format: '命令以用户名开头，如同系统格式，请打开相应选项。', field_count: '字段不足五个，且没有命令。', random_time: '此版本不支持随机时间，请写成固定时间。',
    field: '某个字段无法识别。', both_days: '日期与星期须同时满足，此处没有这样的计划，请将其中一个字段写成列表。', either_day: '日期与星期均已设置：与 cron 相同，满足其一即运行。', never: '永远不会触发：没有这样的日期。',
    reboot: '@reboot：任务不与某台机器的启动绑定，请改用 systemd 单元。', alias: '不是 cron 认识的 @ 写法。', variable_name: '不是有效的变量名。', shell_path: 'SHELL 须为绝对路径。', mailto: 'MAILTO：此版本不发送邮件，其下各行照常导入，输出随每次运行保存。',
    follows_user: '此变量取决于运行命令的用户，已忽略。', mail_only: '此变量只与邮件有关，已忽略。', random_delay: 'RANDOM_DELAY：此版本不支持随机推迟，其下各行在整分开始。', zone: 'CRON_TZ 不是有效的时区。', home_path: 'HOME 须为绝对路径。',
    too_many_variables: '变量过多。', dollar: '含有“$”，cron 与 Carillon 均不展开。', same_line: '与上方某行相同，两者都已导入。', too_large: '内容过大。', carriage_returns: '换行为 Windows 格式，回车符已去除。', utf8: '不是有效的 UTF-8 文本。',
  },
  reasons: {
    exit_code: '退出码 {{exitCode}}', signal: '被信号 {{signal}} 结束', timeout: '运行超过了超时时间 {{after}}', killed_by_user: '由 {{by}} 终止', killed_by_user_with: '由 {{by}} 以 {{signal}} 终止', at_once: '{{atOnceBy}} 要求立即结束', killed_before_start: '开始之前被 {{by}} 取消', cancelled: '已取消',
    worker_stopping: '工作节点在命令结束前停止', worker_cut_off: '工作节点过久无法连接 etcd', worker_died: '工作节点 {{worker}} 已失联', wait_failed: '无法得知命令如何结束',
    workdir_missing: '工作目录 {{workDir}} 不存在', workdir_failed: '无法为运行创建私有目录', program_missing: '找不到程序 {{program}}', shell_missing: 'Shell {{shell}} 不存在或无法执行', start_failed: '命令无法启动', cannot_start: '工作节点缺少资源，无法启动命令：{{error}}',
    user_not_allowed: '工作节点以用户 {{workerUser}} 运行，不能切换到用户 {{user}}', param: '任务不接受参数 {{param}} 的值', late: '没有工作节点在期限内领取', overlap: '上一次运行尚未结束', claimed_twice: '此工作节点已经运行过它',
    queue_full: '已有另一次触发在等待', replaced: '之后的触发取代了它', no_worker: '没有工作节点可以运行它', no_slot: '可以运行它的工作节点没有空闲槽位', outbox_full: '日志存储不可用，且等待写入的结果已占满 etcd 中的发件箱', edited: '被领取之前，计划已被修改', paused: '任务已暂停', deleted: '任务已被删除',
    cursor_in_future: '错误的时钟已将其触发计到 {{until}}：在恢复游标之前不会运行', restored: 'etcd 已从备份恢复；这段时间内运行过的触发另有记录',
    queued: '等待上一次运行结束', backoff: '将于 {{until}} 重试', starting: '已到时间，即将被领取', needs_feature: '任务需要 {{needs}}，此版本的工作节点不支持',
    secret_missing: '任务引用的密钥 {{secret}} 不存在', secret_not_allowed: '密钥 {{secret}} 不供分组 {{group}} 的任务使用', secret_sealed_otherwise: '此工作节点的 secretsKey 无法打开密钥 {{secret}}', secrets_away: '无法从 etcd 读取密钥 {{secret}}',
    user_missing: '工作节点的机器上没有用户 {{user}}', group_disabled: '此工作节点不运行分组 {{group}} 的任务', shell_not_allowed: '此工作节点不允许分组 {{group}} 的任务使用 Shell {{shell}}',
    command_not_allowed: '此工作节点只允许分组 {{group}} 的任务运行部分命令；此命令，或随它给出的变量、参数、目录、输入，不在其中', max_run_time: '运行超过了此工作节点允许的最长时间 {{after}}', too_large: '任务的定义过大',
  },
  verdicts: {
    not_pinned: '任务只在 {{workers}} 上运行', selector: '标签不符合 {{unmet}}', no_weight: '权重为 0', too_small: '共有 {{slots}} 个槽位，而一次运行需要 {{takes}} 个', trouble: '不领取运行：{{trouble}}',
    draining: '正在排空：完成现有运行，不再领取', no_slot: '{{slots}} 个槽位已用 {{used}} 个，而一次运行需要 {{takes}} 个', outbox_full: '不领取运行：等待写入日志存储的结果已占满发件箱', needs_feature: '版本较旧，不支持任务所需的 {{needs}}',
  },
  groups: {
    alive: '存活 {{n}} 个', not_pinned: '{{n}} 个不在指定之列', selector: '{{n}} 个标签不符', no_weight: '{{n}} 个权重为 0', too_small: '{{n}} 个槽位总数不足', needs_feature: '{{n}} 个版本不支持其所需功能', trouble: '{{n}} 个有故障', draining: '{{n}} 个正在排空',
  },
} as const;
