// A provider in a process of its own, with machines that no cluster requests: only the latency of sessions is measured.

import { serveCloud } from '../../test/hostile/cloud.ts';
import type { Papers, Settings } from './settings.ts';

export interface ProviderSetup {
  readonly settings: Settings;
  readonly papers: Papers | null;
}

export interface ProviderTold {
  readonly kind: 'ready';
  readonly address: string;
}

if (import.meta.main) {
  const { settings, papers } = JSON.parse(process.argv[2]!) as ProviderSetup;
  const { address } = await serveCloud(settings.machines, { tls: papers?.provider ?? null });
  process.on('disconnect', () => process.exit());
  process.send!({ kind: 'ready', address } satisfies ProviderTold);
}
