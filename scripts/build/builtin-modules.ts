import { isBuiltin } from "node:module";
import type { Plugin } from "rolldown";

const mark = "\0builtin:";

/**
 * In a bundle, every `import … from "node:…"` would run when the file is loaded, whatever the command needs: imports of
 * modules outside a bundle are hoisted. And an import evaluates all exports of a module: importing `node:http` loads a
 * WebSocket client of 10 MB. So each built-in module becomes a module of the bundle, which runs with the first file
 * that imports it and reads only the exports that are used. `require` calls are not changed: they run where they are.
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
