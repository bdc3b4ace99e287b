// The fake control plane: the API server over HTTP, with a minimal scheduler and controllers. Started by
// control-plane.ts.

import { ApiServer } from './api-server.ts';
import { Access, type ControlPlane, type ControlPlaneOptions, tokenOf, usersOf } from './control-plane.ts';
import { FakeControllers } from './fake-controllers.ts';
import { FakeScheduler } from './fake-scheduler.ts';

/** Real ones take 60 s; nothing in the tests depends on the delay. */
const ORPHAN_MS = 2_000;

export async function startFake(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { nodeMonitorGraceSeconds = 300, seed = 1 } = options;
  const server = await ApiServer.start({ seed });
  for (const [name, user] of usersOf(options)) server.api.addToken(tokenOf(name), user);
  const parts = [
    new FakeScheduler(server.api),
    new FakeControllers(server.api, {
      nodeMonitorGraceMs: nodeMonitorGraceSeconds * 1000,
      orphanMs: ORPHAN_MS,
    }),
  ];
  for (const part of parts) part.start();
  const access = new Access(server.url, server.ca);
  return {
    target: 'fake',
    url: server.url,
    fake: server,
    admin: access.admin,
    connection: (user) => access.connection(user),
    client: (user) => access.client(user),
    kubeconfig: (user, server) => access.kubeconfig(user, server),
    apply: (objects, query) => access.apply(objects, query),
    stopApiServer: () => server.stop(),
    startApiServer: () => server.start(),
    wasRestarted: false,
    rotateToken: async (name = 'operator') => {
      const user = usersOf(options).get(name);
      if (user === undefined) throw new Error(`there is no user ${name}`);
      server.api.addToken(`${tokenOf(name)}-2`, user);
      server.api.expireToken(tokenOf(name));
      server.api.watches.closeAll();
      return () => void access.writeToken(name, `${tokenOf(name)}-2`);
    },
    compact: async () => server.api.compact(),
    stop: async () => {
      for (const part of parts) part.stop();
      access.close();
      await server.stop();
    },
  };
}
