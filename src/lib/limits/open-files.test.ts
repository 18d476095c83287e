import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const module = fileURLToPath(new URL("open-files.ts", import.meta.url));
const parts = `import { partOfFiles } from ${JSON.stringify(module)};
console.log(JSON.stringify([partOfFiles(2, Infinity), partOfFiles(4, 1000), partOfFiles(8, 160)]));`;

it.each([
  [200, [100, 50, 25]],
  [1_024, [512, 256, 128]],
])("HTTP, DNS over TCP and transfers share %i files, and leave some", (most, expected) => {
  const script = `ulimit -n ${most}; exec "$0" --input-type=module -e "$1"`;
  const out = execFileSync("sh", ["-c", script, process.execPath, parts], { encoding: "utf8" });
  expect(JSON.parse(out)).toEqual(expected);
});
