import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, test } from "vitest";
import { readConfig } from "./read.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "moor-telling-"));
  writeFileSync(join(folder, "token"), "thetoken", { mode: 0o600 });
});
afterAll(() => rmSync(folder, { recursive: true }));

function read(text: string) {
  writeFileSync(join(folder, "moor.yaml"), text);
  return readConfig("moor.yaml", {}, folder);
}

it("reads notices, heartbeats and the local port", () => {
  const config = read(`notify:
  - { kind: ntfy, url: 'https://ntfy.sh/topic?x=1' }
  - { kind: webhook, url: 'https://hook.test/', token: { file: token } }
  - { kind: mail, server: 'smtps://mail.test', from: a@b.test, to: [c@d.test, e@f.test], user: u, password: { file: token } }
heartbeat: { url: 'https://kuma.test/api/push/xyz' }
control: { listen: '[::1]:9053', token: { file: token } }
`);
  if (!config.ok) throw new Error(JSON.stringify(config.faults));
  expect(config.value.notify.map(({ kind }) => kind)).toEqual(["ntfy", "webhook", "mail"]);
  expect(config.value.heartbeats).toMatchObject([{ kind: "uptime-kuma", every: 300_000 }]);
  expect(config.value.control).toMatchObject({ host: "::1", port: 9053 });
  expect(JSON.stringify(config.value)).not.toMatch(/thetoken/);
});

const mailTo = (to: string, server = "smtps://mail.test") =>
  `notify: [{ kind: mail, server: "${server}", from: a@b.test, to: ${to} }]`;

test.each([
  [
    "a port that is open to everyone",
    "control: { listen: '0.0.0.0:9053', token: { file: token } }",
    /not a loopback address with a port/,
  ],
  [
    "a port on an invalid address",
    "control: { listen: '127.0.0.300:9053', token: { file: token } }",
    /127\.0\.0\.300:9053 is not a loopback address with a port/,
  ],
  ["a notice without a kind", "notify: [{ url: 'https://a.test' }]", /has no kind/],
  ["a notice with an empty kind", "notify: [{ kind: , url: 'https://a.test' }]", /has no kind/],
  [
    "a setting of another kind of notice",
    "notify: [{ kind: webhook, url: 'https://a.test', server: 'smtp://b.test' }]",
    /^moor\.yaml:1:\d+: notify by webhook has no setting "server"; the settings are kind, url/,
  ],
  ["mail with a URL", mailTo("a@b.test, url: 'https://a.test'"), /notify by mail has no setting "url"/],
  ["mail without a server", "notify: [{ kind: mail, from: a@b.test }]", /mail needs server, from and to/],
  [
    "mail without a recipient",
    "notify: [{ kind: mail, server: 'smtps://mail.test', from: a@b.test }]",
    /mail needs server, from and to; add `to: me@example\.org`/,
  ],
  ["a mail server that is not a URL", mailTo("a@b.test", "mail.test"), /is not the URL of a mail server/],
  ["mail with an empty list of recipients", mailTo("[]"), /to of mail is an empty list/],
  ["mail with a user but no password", mailTo("a@b.test, user: me"), /a user but no password/],
])("%s is a fault", (_, text, expected) => {
  const config = read(text);
  if (config.ok) throw new Error("accepted");
  expect(config.faults.map(({ where, message, todo }) => `${where}: ${message}; ${todo}`)).toEqual([
    expect.stringMatching(expected),
  ]);
});
