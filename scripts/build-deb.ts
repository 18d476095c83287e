import { buildDeb } from "./package/deb.ts";
import { packageEach } from "./package/package-each.ts";

/**
 * Builds Debian packages from the package in `dist` and Node. Run `npm run build` first, then:
 * node scripts/build-deb.ts [--dist FOLDER] [--output FOLDER] [--architecture amd64|arm64] [--debian-version VERSION]
 * [--level 0-9]
 */
packageEach({ "debian-version": { type: "string" }, level: { type: "string" } }, ({ values, ...where }) => {
  const { "debian-version": debianVersion, level } = values;
  return buildDeb({ ...where, debianVersion, level });
});
