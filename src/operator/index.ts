// What other rooms may use of the operator: its settings, its process, and the manifests that install it.

export { renderExample } from './bootstrap/renderer.ts';
export type { ManifestOptions } from './manifests/manifests.ts';
export { manifestText, operatorManifests, settingsText } from './manifests/manifests.ts';
export { bootstrapTemplateOf } from './process/bootstrap-service.ts';
export { clusterFactories } from './process/factories.ts';
export type { FlagKey, FlagValues } from './process/load-settings.ts';
export { loadSettings, SETTING_FLAGS } from './process/load-settings.ts';
export type { RunningOperator } from './process/operator.ts';
export { startOperator } from './process/operator.ts';
export type { OperatorSettings } from './process/settings.ts';
export { documentedSettings, operatorConfigurationPage } from './process/settings-page.ts';
