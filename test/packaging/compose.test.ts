import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { builtProgram } from "../rig/bundle.ts";
import { node, repository } from "../rig/namespace.ts";

type Service = {
  readonly command: string;
  readonly volumes: readonly string[];
  readonly healthcheck: { readonly test: readonly string[] };
};

const folder = join(repository, "packaging/compose");
const files = readdirSync(folder);
const services = files.flatMap((file) => {
  const { services, volumes } = parse(readFileSync(join(folder, file), "utf8"), { merge: true });
  return Object.entries(services as Record<string, Service>).map(([name, service]) => ({
    file,
    name,
    service,
    volumes,
  }));
});

describe("the compose files", () => {
  it("exist for the record service, for the updater and for all", () => {
    expect(services.map(({ file, name }) => `${file} ${name}`)).toEqual([
      ...["all.yaml records", "all.yaml firewall", "all.yaml update"],
      ...["records.yaml records", "update.yaml update"],
    ]);
  });

  it.each(services)("$file: $name uses only options that moor has", ({ service: { command } }) => {
    const [verb = "", ...words] = command.split(/\s+/);
    const help = execFileSync(node, [builtProgram(), verb, "--help"], { encoding: "utf8" });
    const known: readonly string[] = help.match(/--[a-z-]+/g) ?? [];
    expect(words.filter((word) => word.startsWith("--") && !known.includes(word))).toEqual([]);
  });

  it.each(services)("$file: $name has no privileges, and keeps its data in a volume", ({ service, volumes }) => {
    expect(service).toMatchObject({ image: "moor", read_only: true, cap_drop: ["ALL"], restart: "unless-stopped" });
    const called = service.healthcheck.test.join(" ").match(/(?<=:90\d\d)\/\S*/g) ?? [];
    expect(called.filter((path) => path !== "/health/live")).toEqual([]);
    expect(service.volumes).toEqual(
      Object.keys(volumes)
        .filter((name) => service.volumes[0] === `${name}:/data`)
        .map((name) => `${name}:/data`),
    );
  });
});
