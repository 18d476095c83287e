import { createRequire, registerHooks } from "node:module";
import { getAsset } from "node:sea";

/**
 * The first file that the single executable runs. Node lets it import nothing but Node's own modules, so it says where
 * the others are: embedded, at addresses below `inside`. What `require` loads may import them.
 */
const inside = "file:///moor/";
const first = `${inside}program/first.js`;

registerHooks({
  resolve(name, context, next) {
    const { parentURL = "" } = context;
    if (name !== first && !(name.startsWith(".") && parentURL.startsWith(inside))) return next(name, context);
    return {
      url: new URL(name, parentURL.startsWith(inside) ? parentURL : undefined).href,
      format: "module",
      shortCircuit: true,
    };
  },
  load(url, context, next) {
    if (!url.startsWith(inside)) return next(url, context);
    const source =
      url === first ? 'export const start = () => import("./moor.js");' : getAsset(url.slice(inside.length), "utf8");
    return { format: "module", source, shortCircuit: true };
  },
});

const { start } = createRequire(import.meta.url)(first) as { readonly start: () => Promise<unknown> };
void start();
