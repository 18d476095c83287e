import { buildImage } from "./package/image.ts";
import { packageEach } from "./package/package-each.ts";

/**
 * Builds container images from the package in `dist`, Node and a few Debian packages, without a base image or a daemon.
 * Run `npm run build` first, then: node scripts/build-image.ts [--dist FOLDER] [--output FOLDER] [--architecture
 * amd64|arm64]
 */
packageEach({}, ({ architecture, dist, output }) => buildImage(architecture, dist, output).file);
