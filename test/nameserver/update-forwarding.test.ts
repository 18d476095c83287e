import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { freePort } from "../rig/free-port.ts";
import { startProcess } from "../rig/started-process.ts";
import { until } from "../rig/until.ts";
import { everyone, run, startMoorDns } from "./moor-dns.ts";

it("nsupdate gets a success reply even if BIND forwards the update, which changes the message id", async () => {
  const moor = await startMoorDns({ networks: everyone });
  onTestFinished(moor.close);
  await moor.makeZone("example.org", "@ 600 NS ns1\nwww 600 A 192.0.2.1");
  const key = await moor.makeKey("client");
  const [folder, port] = [await mkdtemp(join(tmpdir(), "moor-forwarder-")), await freePort()];
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const config = join(folder, "named.conf");
  await writeFile(
    config,
    `options {
  directory "${folder}"; pid-file none; session-keyfile none;
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; dnssec-validation no; notify no;
};
controls { };
zone "example.org" {
  type secondary; file "zone"; primaries { 127.0.0.1 port ${moor.port}; };
  allow-update-forwarding { any; };
};
`,
  );
  const bind = startProcess(["/usr/sbin/named", "-g", "-n", "1", "-c", config], {});
  onTestFinished(async () => void (await bind.stop()));
  const ask = () => run("dig", ["@127.0.0.1", "-p", `${port}`, "+short", "+tries=1", "+time=5", "www.example.org"]);
  await until(async () => (await ask()) === "192.0.2.1", { what: bind.err });
  const lines = `server 127.0.0.1 ${port}\nzone example.org\nupdate add new.example.org 60 A 192.0.2.9\nsend\n`;
  for (const flags of [[], ["-v"]]) {
    expect(await run("nsupdate", ["-t", "10", "-r", "0", ...flags, "-y", key], lines)).toBe("");
  }
  expect(await moor.dig("+short", "new.example.org")).toBe("192.0.2.9");
});
