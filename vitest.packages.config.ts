import { defineConfig } from "vitest/config";
import { patience, testLimit } from "./test/rig/patience.ts";

/** Image, Debian package and single file, each on a clean root: `npm run test:packages`. */
export default defineConfig({
  test: {
    include: ["test/packages/*.test.ts"],
    globalSetup: ["test/rig/own-temporary-folder.ts"],
    setupFiles: ["test/rig/explain-timeouts.ts"],
    testTimeout: testLimit,
    // Building takes most of the time.
    hookTimeout: 6 * testLimit,
    teardownTimeout: testLimit,
    expect: { poll: { timeout: patience, interval: 100 } },
    fileParallelism: false,
  },
});
