// The provider of `bench hostile`: a child process, started by measure.ts. No cluster requests its machines, because
// only the latency of sessions is measured.

import { serveCloud } from '../../test/hostile/cloud.ts';
import type { Certificates, Settings } from './settings.ts';

export interface ProviderSetup {
  readonly settings: Settings;
  readonly certificates: Certificates | null;
}

export interface ProviderMessage {
  readonly kind: 'ready';
  readonly address: string;
}

if (import.meta.main) {
  const { settings, certificates } = JSON.parse(process.argv[2]!) as ProviderSetup;
  const { address } = await serveCloud(settings.machines, { tls: certificates?.provider ?? null });
  process.on('disconnect', () => process.exit());
  process.send!({ kind: 'ready', address } satisfies ProviderMessage);
}
