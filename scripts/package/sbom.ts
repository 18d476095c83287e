import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Architecture } from "./architecture.ts";
import type { DebianPackage } from "./debian-files.ts";
import { repository, run, sha256, sourceDate, version } from "./reproducible.ts";

type Component = { readonly "bom-ref": string; readonly name: string; readonly version: string };
type Bom = {
  readonly metadata: { readonly component: object };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
};

/** The Node that is packaged, as a component. */
export function nodeComponent(): Component {
  const { dependencies } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
  return component("node", dependencies.node, `pkg:generic/node@${dependencies.node}`);
}

export const debianComponent = ({ name, version }: DebianPackage, architecture: Architecture): Component =>
  component(
    name,
    version,
    `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`,
  );

const component = (name: string, version: string, purl: string): Component & { purl: string; type: string } => ({
  ...{ "bom-ref": purl, type: "library", name, version, purl },
});

/**
 * The content of the package in `dist` and these components, in CycloneDX. npm lists everything that a clone needs,
 * including build tools; the list of licences says what the bundle contains.
 */
export function printSbom(dist: string, others: readonly Component[]): string {
  const bom: Bom = JSON.parse(run("npm", "sbom", "--silent", "--sbom-format", "cyclonedx", "--omit", "dev"));
  const titles = readFileSync(join(dist, "licences.txt"), "utf8").matchAll(/^(\S+) (\d\S*) \(/gm);
  const bundled = new Set([...titles].map(([, name, version]) => `${name}@${version}`));
  const components = [
    // These fields depend on the machine.
    ...bom.components
      .filter((one) => bundled.has(`${one.name}@${one.version}`))
      .map((one) => ({ ...one, externalReferences: undefined, properties: undefined })),
    ...others,
  ];
  const known = new Set(components.map((one) => one["bom-ref"]));
  const own = `moor@${version}`;
  const dependencies = bom.dependencies
    .filter(({ ref }) => known.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => known.has(one)) }));
  const made = {
    ...bom,
    metadata: {
      timestamp: new Date(sourceDate() * 1000).toISOString(),
      component: { ...component("moor", version, `pkg:npm/moor@${version}`), "bom-ref": own, type: "application" },
    },
    components,
    dependencies: [{ ref: own, dependsOn: [...known] }, ...dependencies],
  };
  // npm's serial number is random.
  const hash = sha256(JSON.stringify({ ...made, serialNumber: undefined }));
  const [, a, b, c, d] = /^(.{8})(.{4}).(.{3}).(.{15})/.exec(hash) ?? [];
  const serialNumber = `urn:uuid:${a}-${b}-8${c}-8${d?.slice(0, 3)}-${d?.slice(3)}`;
  return `${JSON.stringify({ ...made, serialNumber }, null, 2)}\n`;
}
