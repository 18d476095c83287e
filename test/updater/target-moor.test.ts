import { moorToken, openMoorPeer } from "../rig/updater/moor-peer.ts";
import { describeTarget } from "../rig/updater/target-suite.ts";

const open = () => openMoorPeer(() => "token: { file: secret }");

describeTarget({
  ...{ api: "v1", open, secret: moorToken, several: "left alone" },
  http: { calls: 4, error: (status, message) => ({ status, body: { error: { message, code: status } } }) },
});

describeTarget({
  ...{ api: "rrsets", open, secret: moorToken, several: "replaced", together: true },
  http: {
    calls: 2,
    error: (status, message) => ({ status, body: { error: { code: "some_code", message, details: null } } }),
  },
});

describeTarget({
  ...{ api: "dyndns2", secret: moorToken, several: "replaced", lists: false, isWrite: () => true },
  open: () => openMoorPeer((port) => `user: me, password: { file: secret }, dns: ["127.0.0.1:${port}"]`),
  http: {
    calls: 1,
    error: (status, message) => ({ status, body: message, headers: { "content-type": "text/plain" } }),
  },
});
