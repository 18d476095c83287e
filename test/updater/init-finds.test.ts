import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { sitDown } from "../rig/cli/pseudo-terminal.ts";
import { node } from "../rig/namespace.ts";
import { testLimit } from "../rig/patience.ts";
import { openRouter, type Router } from "../rig/updater/router.ts";

/** `moor init` at a terminal of a machine behind a router: what it finds, and what it proposes. */
vi.setConfig({ testTimeout: 3 * testLimit });

let folder: string;
let router: Router;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-finds-"));
  router = await openRouter(folder, "81.2.69.142");
});
afterEach(() => router.stopServing());
afterAll(async () => {
  await router.close();
  rmSync(folder, { recursive: true });
});

const enter = "\r";

function start() {
  const person = sitDown(["init", "--control", "none"], folder, router.entering(folder));
  onTestFinished(person.leave);
  return person;
}

it("a router with UPnP: its address is proposed, and read without a question", async () => {
  await router.serve();
  const { reads, types, shown } = start();
  await reads(/Looking for the public address: .*its router 192\.168\.77\.1 \(UPnP/);
  await reads(/no password is sent/);
  await reads(/Found: Attic router at 192\.168\.77\.1 reports 81\.2\.69\.142\n/);
  await reads(/Where should moor read the addresses\?\n.*NAT-PMP or PCP \(igd: found: Attic router[\s\S]*over HTTPS/);
  types(enter);
  await reads(/Should the name have an A record\?\n.*yes \(81\.2\.69\.142\)/);
  types(enter);
  await reads(/Where are the records\?/);
  expect(shown(), "it knows only IPv4").not.toContain("AAAA");
});

it("a router with a page: its kind and URL are proposed", async () => {
  const page =
    "require('http').createServer((q, a) => a.end('<title>RouterOS</title>')).listen(80, () => console.log('up'))";
  const server = router.startOnRouter([node, "-e", page]);
  await server.says(/up/);
  const { reads, types, shown } = start();
  await reads(/Found: 192\.168\.77\.1 looks like a MikroTik router\n/);
  await reads(/Where should moor read the addresses\?\n.*MikroTik \(mikrotik: found/);
  types(enter);
  await reads(/The URL of the router\?[\s\S]*https:\/\/192\.168\.77\.1\//);
  expect(shown().match(/Found: /g)).toHaveLength(1);
  await server.stop("SIGKILL");
});

it("a public address of the machine itself comes first; nothing is found without a router that answers", async () => {
  const nothing = start();
  await nothing.reads(/Nothing was found\.\n[\s\S]*Where should moor read the addresses\?\n.*over HTTPS/);
  await router.run(["sh", "-c", "ip addr flush dev pc0; ip addr add 93.184.216.34/24 dev pc0"]);
  const { reads, types, shown } = start();
  await reads(/Found: pc0 has 93\.184\.216\.34\n[\s\S]*Where should moor read the addresses\?\n.*own interfaces/);
  types(enter);
  await reads(/Which interface has the address for the A record\?\n.*pc0 \(93\.184\.216\.34\)/);
  expect(shown(), "there is no router now").toContain("the interfaces of this machine.\n");
});
