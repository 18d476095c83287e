import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Architecture } from "./architecture.ts";
import type { DebianPackage } from "./debian-files.ts";
import { imageConfig, label } from "./image-config.ts";
import { makeSystemTree, userId } from "./image-tree.ts";
import { installProgram } from "./installed-program.ts";
import { gzip, sha256, tar, version } from "./reproducible.ts";

/**
 * Writes an image of the package in `dist` to a folder: an OCI layout, with a manifest for older versions of Docker.
 * `docker load`, `podman load` and skopeo read it. The same commit with the same Debian packages gives the same bytes.
 */
export function buildImage(
  architecture: Architecture,
  dist: string,
  output: string,
): { readonly file: string; readonly packages: readonly DebianPackage[] } {
  const folder = mkdtempSync(join(tmpdir(), "moor-image-"));
  try {
    const file = join(output, `moor-${version}-image-${architecture}.tar`);
    return { file, packages: build(architecture, dist, folder, file) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function build(architecture: Architecture, dist: string, folder: string, file: string): readonly DebianPackage[] {
  const system = join(folder, "system");
  const program = join(folder, "program");
  const layout = join(folder, "layout");
  for (const made of [system, program, join(layout, "blobs/sha256")]) mkdirSync(made, { recursive: true });
  const packages = makeSystemTree(architecture, system, join(folder, "debian"));
  installProgram(dist, program);
  const layers = [addLayer(system, layout, { path: "data", id: userId }), addLayer(program, layout)];
  const config = addJson(
    imageConfig(
      architecture,
      layers.map(({ contentDigest }) => contentDigest),
    ),
    layout,
  );
  const manifest = addJson(
    {
      schemaVersion: 2,
      mediaType: "application/vnd.oci.image.manifest.v1+json",
      config: { mediaType: "application/vnd.oci.image.config.v1+json", ...config },
      layers: layers.map(({ digest, size }) => ({
        mediaType: "application/vnd.oci.image.layer.v1.tar+gzip",
        ...{ digest, size },
      })),
    },
    layout,
  );
  const index = {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.index.v1+json",
    manifests: [
      {
        mediaType: "application/vnd.oci.image.manifest.v1+json",
        ...manifest,
        platform: { architecture, os: "linux" },
        annotations: { [label("ref.name")]: "moor:latest" },
      },
    ],
  };
  writeFileSync(join(layout, "index.json"), JSON.stringify(index));
  writeFileSync(join(layout, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  const pathOf = ({ digest }: Blob) => `blobs/${digest.replace(":", "/")}`;
  const docker = [{ Config: pathOf(config), RepoTags: [`moor:${version}`, "moor:latest"], Layers: layers.map(pathOf) }];
  writeFileSync(join(layout, "manifest.json"), JSON.stringify(docker));
  tar(layout, file);
  return packages;
}

type Blob = { readonly digest: string; readonly size: number };

function addLayer(tree: string, layout: string, owned?: { readonly path: string; readonly id: number }) {
  const file = `${tree}.tar`;
  tar(tree, file, owned);
  const contentDigest = `sha256:${sha256(readFileSync(file))}`;
  return { ...addBlob(gzip(file), layout), contentDigest };
}

function addJson(value: object, layout: string): Blob {
  const file = join(layout, "draft.json");
  writeFileSync(file, JSON.stringify(value));
  return addBlob(file, layout);
}

/** Moves the file to its content-addressed path. */
function addBlob(file: string, layout: string): Blob {
  const digest = sha256(readFileSync(file));
  const size = statSync(file).size;
  renameSync(file, join(layout, "blobs/sha256", digest));
  return { digest: `sha256:${digest}`, size };
}
