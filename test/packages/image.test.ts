import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type Namespace, openNamespace, repository } from "../rig/namespace.ts";
import { run } from "./clean-root.ts";
import { keptZoneSuite } from "./kept-zone.suite.ts";
import { type Architecture, architectures, build, here, other, sumOf, version } from "./release-files.ts";

/** The parts of a bundle's config.json that a container is started with. */
type RuntimeConfig = {
  process: { args: string[]; user: { uid: number }; terminal: boolean; capabilities: object };
  root: { readonly?: boolean };
  mounts: { destination: string; type?: string; source?: string; options?: string[] }[];
  linux: { namespaces: { type: string }[] };
};

let folder: string;
let inside: Namespace;

const buildImage = (output: string, ...words: string[]) => build("image", join(folder, output), ...words);
const archive = (output: string, architecture: Architecture) =>
  join(folder, output, `moor-${version}-image-${architecture}.tar`);
const treeOf = (architecture: Architecture) => join(folder, architecture, "rootfs");
/** The user of the image. */
const userId = 65532;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-image-"));
  buildImage("first");
  for (const architecture of architectures) {
    const layout = join(folder, `${architecture}-layout`);
    mkdirSync(layout);
    run("tar", "-xf", archive("first", architecture), "-C", layout);
    // umoci finds an image by a name without a tag.
    const index = readFileSync(join(layout, "index.json"), "utf8");
    writeFileSync(join(layout, "index.json"), index.replace('"moor:latest"', '"moor"'));
    run("umoci", "unpack", "--image", `${layout}:moor`, join(folder, architecture));
  }
  mkdirSync(join(folder, "data"), { mode: 0o700 });
  chownSync(join(folder, "data"), userId, userId);
  inside = await openNamespace({ asRoot: true });
});
afterAll(async () => {
  for (const id of containers) run("runc", "delete", "--force", id);
  await inside?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

describe("the image", () => {
  it.each(architectures)("for %s is at most 50 MB", (architecture) => {
    expect(statSync(archive("first", architecture)).size).toBeLessThan(50e6);
  });

  it("is the same when built again", () => {
    buildImage("again", "--architecture", here);
    expect(sumOf(archive("again", here))).toBe(sumOf(archive("first", here)));
  });

  it("runs for the other processor too", () => {
    const emulator = other === "amd64" ? "qemu-x86_64-static" : "qemu-aarch64-static";
    const tree = treeOf(other);
    const program = ["usr/lib/moor/node", "usr/lib/moor/program/moor.js"].map((path) => join(tree, path));
    expect(run(emulator, "-L", tree, ...program, "--version")).toContain(`Node ${process.versions.node}`);
  });

  it("has a user, a health check and labels, and lists its components", () => {
    const layout = join(folder, `${here}-layout`);
    const [{ Config, RepoTags }] = JSON.parse(readFileSync(join(layout, "manifest.json"), "utf8"));
    const { config } = JSON.parse(readFileSync(join(layout, Config), "utf8"));
    expect(RepoTags).toEqual([`moor:${version}`, "moor:latest"]);
    expect(config).toMatchObject({ User: `${userId}:${userId}`, Volumes: { "/data": {} }, WorkingDir: "/data" });
    expect(config.Labels).toMatchObject({ "org.opencontainers.image.version": version });
    expect(config.Healthcheck.Test[0]).toBe("CMD");
    expect(readdirSync(join(treeOf(here), "var/lib/dpkg/status.d"))).toEqual(
      expect.arrayContaining(["libc6", "iproute2"]),
    );
    for (const name of ["libc6", "libstdc++6"])
      expect(existsSync(join(treeOf(here), "usr/share/doc", name, "copyright"))).toBe(true);
  });
});

const containers = new Set<string>();

/**
 * The command of a container of the image with a read-only root, no capabilities, and its data in a folder of this
 * machine.
 */
function container(change: (config: RuntimeConfig) => void = () => undefined): readonly [string, ...string[]] {
  const id = `moor-test-${process.pid}-${containers.size}`;
  containers.add(id);
  const bundle = join(folder, id);
  mkdirSync(bundle);
  const config = JSON.parse(readFileSync(join(folder, here, "config.json"), "utf8")) as RuntimeConfig;
  Object.assign(config.process, { terminal: false, capabilities: {} });
  Object.assign(config.root, { path: treeOf(here), readonly: true });
  config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "network");
  config.mounts = config.mounts.filter(({ destination }) => destination !== "/data");
  config.mounts.push({ destination: "/data", type: "bind", source: join(folder, "data"), options: ["bind", "rw"] });
  change(config);
  writeFileSync(join(bundle, "config.json"), JSON.stringify(config));
  return ["runc", "run", "--bundle", bundle, id];
}

const runIn = async (...args: string[]) => {
  const { code, out, err } = await inside.run(container((config) => Object.assign(config.process, { args })));
  if (code !== 0) throw new Error(`${args.join(" ")} exited with ${code}: ${err}`);
  return out;
};

describe("a container", () => {
  it("has root certificates, time zones and ip, and runs as a user that cannot write to it", async () => {
    const script = `console.log(JSON.stringify({
      user: process.getuid(),
      roots: require("node:tls").rootCertificates.length > 100,
      summer: new Date("2026-07-01T00:00Z").toLocaleTimeString("de", { timeZone: "Europe/Berlin" }),
    }))`;
    const said = JSON.parse(await runIn("/usr/lib/moor/node", "-e", script));
    expect(said).toEqual({ user: userId, roots: true, summer: "02:00:00" });
    expect(await runIn("/bin/sh", "-c", "ip -json address show lo")).toContain('"127.0.0.1"');
    await expect(runIn("/bin/sh", "-c", "echo > /tmp/file")).rejects.toThrow("Read-only file system");
  });

  let running: readonly string[] = [];
  keptZoneSuite(() => ({
    inside,
    start() {
      const command = container();
      running = command;
      return inside.start(command);
    },
    async kill(service) {
      run("runc", "kill", running.at(-1) ?? "", "KILL");
      await service.ended;
    },
    moor: (...words) => runIn("/usr/bin/moor", ...words, "--data", "/data"),
  }));

  const secret = (name: string): string => {
    const path = join(folder, "data", name);
    writeFileSync(path, "a-secret-of-more-than-thirty-characters", { mode: 0o600 });
    chownSync(path, userId, userId);
    return `{ file: /data/${name} }`;
  };
  const updaterConfig = (password: string) => `
    sources: { here: { kind: interface } }
    targets: { dns: { api: rrsets, url: "https://127.0.0.1:1", token: ${secret("token")} } }
    names: [{ name: home, zone: example.org, create: true, ipv4: lo }]
    control: { listen: "127.0.0.1:9053", token: ${secret("control-token")}${password} }
  `;

  it.each([
    { what: "firewall", name: "firewall", says: /listens on/, config: () => "" },
    { what: "update", name: "update", says: /status page/, config: () => updaterConfig("") },
    {
      ...{ what: "update with a password", name: "update", says: /status page/ },
      config: () => updaterConfig(`, password: ${secret("password")}`),
    },
  ])("can run the check of $what in the compose files", async ({ name, says, config }) => {
    const { services } = parse(readFileSync(join(repository, "packaging/compose/all.yaml"), "utf8"), { merge: true });
    const { command, healthcheck } = services[name];
    const [, ...check] = healthcheck.test.map((word: string) => word.replaceAll("$$", "$"));
    await expect(runIn(...check)).rejects.toThrow("exited with 1: ");
    writeFileSync(join(folder, "data/moor.yaml"), config());
    const args = ["/usr/bin/moor", ...command.split(" ")];
    const service = inside.start(container((runtime) => Object.assign(runtime.process, { args })));
    await service.says(says);
    await runIn(...check);
    expect((await service.stop("SIGTERM")).code).toBe(0);
  });

  it("is healthy while the record service answers, and only then", async () => {
    const layout = join(folder, `${here}-layout`);
    const [{ Config }] = JSON.parse(readFileSync(join(layout, "manifest.json"), "utf8"));
    const [, ...check] = JSON.parse(readFileSync(join(layout, Config), "utf8")).config.Healthcheck.Test;
    await expect(runIn(...check)).rejects.toThrow("exited with 1: ");
    const service = inside.start(container());
    await service.says(/Metrics and health/);
    await runIn(...check);
    expect((await service.stop("SIGTERM")).code).toBe(0);
  });
});
