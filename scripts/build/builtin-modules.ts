import { isBuiltin } from "node:module";
import type { Plugin } from "rolldown";

const mark = "\0builtin:";

/**
 * In one file, every `import … from "node:…"` would run when the file is loaded, whatever the command needs: imports of modules
 * outside a bundle are hoisted. And an import evaluates all exports of a module: one of `node:http` loads a WebSocket client of
 * 10 MB. So a module of Node becomes a module of the bundle. It runs with the first file that imports it, and reads only the
 * exports that somebody uses. `require` is left alone: it runs where it stands.
 */
export function builtinModules(): Plugin {
  return {
    name: "builtin-modules",
    resolveId(name, _importer, { kind }) {
      if (kind !== "import-statement" || !isBuiltin(name)) return null;
      return { id: `${mark}${name.replace(/^(?!node:)/, "node:")}`, moduleSideEffects: false };
    },
    load(id) {
      if (!id.startsWith(mark)) return null;
      const name = id.slice(mark.length);
      const names = Object.keys(process.getBuiltinModule(name) ?? {}).filter(
        (key) => /^[\w$]+$/.test(key) && key !== "default",
      );
      const exports = names.map((key, n) => `const x${n} = module.${key};\nexport { x${n} as ${key} };`);
      return `const module = process.getBuiltinModule("${name}");\nexport default module;\n${exports.join("\n")}\n`;
    },
  };
}
