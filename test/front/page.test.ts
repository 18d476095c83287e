import { readFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runMoor } from "../../src/cli/program.ts";
import { createLog } from "../../src/process/log.ts";
import { type RunningRecords, startRecords } from "../../src/records/start.ts";
import { pages } from "../docs/pages.ts";
import { commandsOf } from "../docs/shell.ts";
import { openTerminal } from "../rig/cli/terminal.ts";

/** The commands of docs/keep-your-provider.md, in their order, with another moor as Hetzner. */
let folder: string;
let there: RunningRecords;
let here: RunningRecords;

const page = pages.find(({ path }) => path === "docs/keep-your-provider.md");
const blocks = page?.blocks ?? [];
const commands = blocks
  .filter(({ language }) => language === "sh")
  .flatMap((block) => commandsOf(block))
  .filter(({ words }) => words[0] === "moor")
  .map(({ words }) => words.slice(1));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "moor-page-"));
  const log = createLog({ format: "text", level: "error", write: (line) => process.stderr.write(line) });
  const start = (name: string) =>
    startRecords({
      dataFolder: join(folder, name),
      listen: { host: "127.0.0.1", port: 0 },
      names: [],
      nameservers: ["ns1.example.net"],
      log,
    });
  there = await start("there");
  here = await start("here");
  await moor("token add --data there --to hetzner-token --long".split(" "));
  await moor("zone add example.org --data there".split(" "));
  await moor(["record", "set", "example.org", "MX", "10 mail.example.net.", "--data", "there"]);
  for (const name of ["home", "www"]) await moor(`record set ${name}.example.org A 192.0.2.1 --data there`.split(" "));
});
afterAll(async () => {
  await here?.close();
  await there?.close();
});

async function moor(words: readonly string[]): Promise<string> {
  const { io, printed } = openTerminal(folder);
  const local = words.map((word) => (word === "/var/lib/moor-records" ? "here" : word));
  const hetzner = words.includes("--token") ? ["--url", there.url, "--ca", "there/ca.pem"] : [];
  const code = await runMoor([...local, ...hetzner], io);
  if (code !== 0) throw new Error(`moor ${words.join(" ")}: ${code} ${printed.err}`);
  return printed.out;
}

/** As a FRITZ!Box calls it: any user name, and no check of the certificate. */
function update(token: string, hostname: string): Promise<string> {
  const url = `${here.url}/nic/update?hostname=${hostname}&myip=192.0.2.77&myipv6=`;
  return new Promise((resolve, reject) => {
    const agent = new Agent({ rejectUnauthorized: false });
    request(url, { agent, auth: `any:${token}` }, (answer) => {
      let body = "";
      answer.setEncoding("utf8").on("data", (text: string) => {
        body += text;
      });
      answer.on("end", () => resolve(body));
    })
      .on("error", reject)
      .end();
  });
}

/** Somebody changes a set there; it is noticed at the latest when it is written here. */
async function drift(value: string): Promise<void> {
  await moor(`record set www.example.org A 192.0.2.${value} --data there`.split(" "));
  await moor(`record set www.example.org A 192.0.2.1${value} --data here`.split(" "));
  await expect.poll(() => moor("zone state example.org --data here".split(" "))).toMatch(/^www +A +drifted/m);
}

const exported = (where: string) => moor(`zone export example.org --data ${where}`.split(" "));

it("runs word for word", async () => {
  const run = async (wanted: string) => {
    const [next] = commands.splice(0, 1);
    expect(next?.join(" ")).toContain(wanted);
    return await moor(next ?? []);
  };
  const preview = blocks.find(({ language }) => language === "text")?.text;
  expect(await run("zone publish example.org hetzner")).toBe(preview);
  expect(await moor("zone list --data here".split(" "))).toMatch(/There are no zones yet/);
  await run("--yes");
  expect(await exported("here")).toMatch(/^www\t.*192\.0\.2\.1$/m);

  await run("token add --name fritzbox");
  const token = readFileSync(join(folder, "fritzbox-token"), "utf8").trim();
  expect(await update(token, "home.example.org")).toMatch(/^good 192\.0\.2\.77/);
  expect(await update(token, "www.example.org")).toMatch(/^nohost/);
  await expect.poll(() => exported("there")).toMatch(/^home\t.*192\.0\.2\.77$/m);

  expect(await run("zone state")).toMatch(/At Hetzner: 3 published/);
  await drift("66");
  await run("take-theirs");
  await expect.poll(() => exported("here")).toMatch(/^www\t.*192\.0\.2\.66$/m);
  await drift("67");
  await run("put-ours-back");
  await expect.poll(() => exported("there")).toMatch(/^www\t.*192\.0\.2\.167$/m);
  await run("zone set");
  await run("zone unpublish");
  expect(commands).toEqual([]);
});
