import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin, type Rolldown } from "vite";

/** Gzipped script that each page may load before it shows something. */
const mostScript = 200_000;

export default defineConfig({
  root: "console",
  plugins: [react(), weigh()],
  build: {
    outDir: "../dist/console",
    emptyOutDir: true,
    target: "es2023",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      input: {
        records: "console/records.html",
        firewall: "console/firewall.html",
        updater: "console/updater.html",
        docs: "console/docs.html",
      },
    },
  },
});

/** Writes the gzipped form beside each file, and fails the build when a first page loads too much script. */
function weigh(): Plugin {
  return {
    name: "weigh",
    apply: "build",
    async writeBundle({ dir = "" }, bundle) {
      const sizes = new Map<string, number>();
      for (const name of Object.keys(bundle)) {
        if (!/\.(?:js|css|html|svg)$/.test(name)) continue;
        const zipped = gzipSync(await readFile(join(dir, name)), { level: 9 });
        sizes.set(name, zipped.length);
        await writeFile(join(dir, `${name}.gz`), zipped);
      }
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== "chunk" || !chunk.isEntry) continue;
        const total = [...loadedWith(chunk.fileName, bundle)].reduce((sum, name) => sum + (sizes.get(name) ?? 0), 0);
        this.info(`${chunk.name}: ${(total / 1000).toFixed(1)} kB of gzipped script for the first page`);
        if (total > mostScript) this.error(`${chunk.name}: the first page may load ${mostScript / 1000} kB of script`);
      }
    },
  };
}

/** The chunk and all that it imports at once; what is imported on use does not count. */
function loadedWith(name: string, bundle: Rolldown.OutputBundle, found = new Set<string>()): ReadonlySet<string> {
  const chunk = bundle[name];
  if (found.has(name) || chunk?.type !== "chunk") return found;
  found.add(name);
  for (const imported of chunk.imports) loadedWith(imported, bundle, found);
  return found;
}
