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
const account = (kind = "hetzner", url = there.url) => `${kind} --url ${url} --token token --ca there/ca.pem`;

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

it("shows what would happen and stores nothing, publishes when told so, and shows the state", async () => {
  const shown = await moor(`zone publish example.org ${account()} --data here`);
  expect(shown).toMatchObject({ code: 0, err: "" });
  expect(shown.out).toMatch(/^www +A +created here$/m);
  expect(shown.out).toMatch(/Nothing was changed or stored/);
  expect((await moor("zone list --data here")).out).toMatch(/There are no zones yet/);
  expect((await moor("provider list --data here")).out).toBe("There are no providers.\n");

  expect(await moor(`zone publish example.org ${account()} --data here --yes`)).toMatchObject({
    ...{ code: 0, err: "", out: "example.org is published at Hetzner from now on.\n" },
  });
  expect(await at("here")).toMatch(/^www\tIN\t300\tA\t192\.0\.2\.1$/m);

  await moor("record set www.example.org A 192.0.2.2 --data here");
  await expect.poll(() => at("there")).toMatch(/192\.0\.2\.2/);
  const state = async () => (await moor("zone state example.org --data here")).out;
  await expect.poll(state).toBe("At Hetzner: 1 published, 0 waiting, 0 refused, 0 drifted\n");
});

it("stores nothing if the token is wrong or nobody answers, and says which", async () => {
  writeFileSync(join(folder, "wrong"), `${"x".repeat(64)}\n`);
  const wrong = account().replace("--token token", "--token wrong --name other");
  const nobody = account("hetzner", "https://127.0.0.1:9").replace("hetzner", "hetzner --name other");
  for (const words of [wrong, nobody])
    for (const yes of ["", " --yes"])
      expect(await moor(`zone publish new.example ${words} --data here${yes}`)).toMatchObject({
        code: 1,
        err: expect.stringMatching(words === wrong ? /Hetzner denied access \(401/ : /Hetzner could not be reached/),
      });
  expect((await moor("zone list --data here")).out).not.toMatch(/new\.example/);
  expect((await moor("provider list --data here")).out).not.toMatch(/other/);
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
  for (const other of [account("moor --name hetzner"), account("hetzner", here.url)])
    expect(await moor(`zone publish example.net ${other} --data here`)).toMatchObject({
      ...{ code: 1, err: expect.stringMatching(/there is already a provider hetzner \(hetzner, /) },
    });
});

it("replaces the token if it works, and removes the provider, but not while a zone needs it", async () => {
  expect((await moor("provider list --data here")).out).toMatch(/^hetzner +hetzner +https:\S+ +1$/m);
  expect(await moor("provider replace-token hetzner wrong --data here")).toMatchObject({
    ...{ code: 1, err: expect.stringMatching(/Hetzner denied access \(401/) },
  });
  expect(await moor("provider replace-token hetzner token --data here")).toMatchObject({ code: 0, err: "" });
  const { code, err } = await moor("provider remove hetzner --data here");
  expect([code, err]).toEqual([1, expect.stringContaining("the zone example.org is published with it")]);
});

it("changes what happens to sets that somebody changes there, and stops publishing", async () => {
  expect(await moor("zone set example.org --data here")).toMatchObject({ code: 2 });
  expect((await moor("zone set example.org --drift ours --read-every 60 --data here")).out).toBe(
    "If somebody changes a set at Hetzner, ours is put back. The zone there is read every 60 seconds.\n",
  );
  expect(await moor("zone unpublish example.org --data here")).toMatchObject({
    ...{ code: 2, err: expect.stringMatching(/Hetzner, which keeps its records; to confirm, add --yes/) },
  });
  expect(await moor("zone unpublish example.org --data here --yes")).toMatchObject({
    ...{ code: 0, out: "example.org is not published any more; Hetzner keeps its records.\n" },
  });
  expect(await at("there")).toMatch(/www/);
  expect(await moor("zone set example.org --drift ask --data here")).toMatchObject({ code: 1 });
  expect(await moor("provider remove hetzner --data here")).toMatchObject({ code: 0 });
});
