// Settings of a shard, for a command that reads them before it starts one: none of this loads the shard itself.

export type { LoadedConfig, ShardConfig } from './config.ts';
export { loadConfig } from './config.ts';
export { printConfig } from './print.ts';
export type { SettingKey } from './settings.ts';
export { KEYS as SETTING_KEYS, settingOf } from './settings.ts';
export type { Flags as SettingFlags } from './sources.ts';
