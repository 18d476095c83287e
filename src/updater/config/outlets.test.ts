import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, test } from "vitest";
import { readConfig } from "../read-config.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "moor-telling-"));
  writeFileSync(join(folder, "token"), "thetoken", { mode: 0o600 });
  writeFileSync(join(folder, "weak"), "password123456\n", { mode: 0o600 });
  writeFileSync(join(folder, "good"), "a ship in the harbour\n", { mode: 0o600 });
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
control: { listen: '[::1]:9053', token: { file: token }, links: { dns: 'https://dns.example.org:8053' } }
`);
  if (!config.ok) throw new Error(JSON.stringify(config.faults));
  expect(config.value.notify.map(({ kind }) => kind)).toEqual(["ntfy", "webhook", "mail"]);
  expect(config.value.heartbeats).toMatchObject([{ kind: "uptime-kuma", every: 300_000 }]);
  expect(config.value.control).toMatchObject({
    host: "::1",
    port: 9053,
    links: [{ service: "records", url: "https://dns.example.org:8053", together: false }],
  });
  expect(JSON.stringify(config.value)).not.toMatch(/thetoken/);
});

const mailTo = (to: string, server = "smtps://mail.test") =>
  `notify: [{ kind: mail, server: "${server}", from: a@b.test, to: ${to} }]`;

test.each([
  [
    "a page without a password that is open to everyone",
    "control: { listen: '0.0.0.0:9053', token: { file: token } }",
    /other machines can reach 0\.0\.0\.0, and the page has no password; put a password .*chmod 600.*`password: \{ file: secrets\/page-password \}`; or listen on 127\.0\.0\.1$/,
  ],
  [
    "a page with a weak password",
    "control: { listen: '192.0.2.1:9053', token: { file: token }, password: { file: weak } }",
    /password of control is not safe; This password is easy to guess/,
  ],
  [
    "a password in the config itself",
    "control: { listen: '127.0.0.1:9053', token: { file: token }, password: a ship in the harbour }",
    /password of control is in the config itself; put it in a separate file/,
  ],
  [
    "a certificate without its key",
    "control: { listen: '127.0.0.1:9053', token: { file: token }, password: { file: good }, cert: token }",
    /control needs both cert and key/,
  ],
  [
    "a certificate that nobody sees",
    "control: { listen: '127.0.0.1:9053', token: { file: token }, cert: token, key: token }",
    /control has a certificate but no password/,
  ],
  [
    "a port on an invalid address",
    "control: { listen: '127.0.0.300:9053', token: { file: token } }",
    /127\.0\.0\.300:9053 is not an address with a port/,
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
