import { writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { createLog } from "../../process/log.ts";
import { type RunningRecords, startRecords } from "../../records/start.ts";
import { runMoor } from "../program.ts";

/** `there` is another moor, which stands in for Hetzner; `here` publishes its zones there. */
let folder: string;
let there: RunningRecords;
let here: RunningRecords;
const publish = () => `--publish hetzner --publish-url ${there.url} --publish-token token --publish-ca there/ca.pem`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "moor-publish-"));
  const log = createLog({ format: "text", level: "error", write: (line) => process.stderr.write(line) });
  const start = (name: string) =>
    startRecords({
      ...{ dataFolder: join(folder, name), listen: { host: "127.0.0.1", port: 0 }, names: [], log },
      nameservers: [`ns1.${name}.example`],
    });
  there = await start("there");
  here = await start("here");
  await moor("token add --data there --to token --long");
  await moor("zone add example.org --data there");
  await moor("record set www.example.org A 192.0.2.1 --ttl 300 --data there");
});
afterAll(async () => {
  await here.close();
  await there.close();
});

async function moor(line: string) {
  const { io, printed } = openTerminal(folder);
  const code = await runMoor(line.split(" "), io);
  return { code, out: printed.out, err: printed.err };
}

const at = async (where: string) => (await moor(`zone export example.org --data ${where}`)).out;

it("shows what would happen, publishes when told so, and shows the state", async () => {
  const shown = await moor(`zone add example.org --data here ${publish()}`);
  expect(shown).toMatchObject({ code: 0, err: "" });
  expect(shown.out).toMatch(/^www +A +created here$/m);
  expect(shown.out).toMatch(/No record was changed/);
  expect(await at("here")).not.toMatch(/www/);

  expect(await moor(`zone add example.org --data here ${publish()} --yes`)).toMatchObject({
    ...{ code: 0, err: "", out: "example.org is published at Hetzner from now on.\n" },
  });
  expect(await at("here")).toMatch(/^www\tIN\t300\tA\t192\.0\.2\.1$/m);

  await moor("record set www.example.org A 192.0.2.2 --data here");
  await expect.poll(() => at("there")).toMatch(/192\.0\.2\.2/);
  const state = async () => (await moor("zone state example.org --data here")).out;
  await expect.poll(state).toBe("At Hetzner: 1 published, 0 waiting, 0 refused, 0 drifted\n");
});

it("shows a set that was changed there, and puts ours back", async () => {
  await moor("record set www.example.org A 192.0.2.66 --data there");
  await moor("record set www.example.org A 192.0.2.3 --data here");
  const state = async () => (await moor("zone state example.org --data here")).out;
  await expect.poll(state).toMatch(/^www +A +drifted +somebody changed this set at the provider/m);
  expect(await moor("record put-ours-back www.example.org A --data here")).toMatchObject({ code: 0, err: "" });
  await expect.poll(() => at("there")).toMatch(/192\.0\.2\.3/);
});

it("does not send a token to another service than the one that it was given for", async () => {
  const elsewhere = publish().replace("--publish hetzner", "--publish moor --publish-name hetzner");
  for (const options of [elsewhere, publish().replace(there.url, here.url)])
    expect(await moor(`zone add example.org --data here ${options}`)).toMatchObject({
      ...{
        code: 1,
        err: expect.stringMatching(/there is already an account "hetzner" at another service \(hetzner, /),
      },
    });
});

it("replaces and removes the token, but not while a zone needs it", async () => {
  expect((await moor("provider list --data here")).out).toMatch(/^hetzner +hetzner +https:\S+ +1$/m);
  writeFileSync(join(folder, "token2"), "another-token\n");
  expect(await moor("provider replace-token hetzner token2 --data here")).toMatchObject({ code: 0, err: "" });
  const { code, err } = await moor("provider remove hetzner --data here");
  expect([code, err]).toEqual([1, expect.stringContaining("the zone example.org is published with it")]);
});
