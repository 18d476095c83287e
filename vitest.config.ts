import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { patience, testLimit } from "./test/rig/patience.ts";
import WaitingBesideComputing from "./test/rig/waiting-beside-computing.ts";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // They need root, and minutes: npm run test:packages
    exclude: ["test/packages/**"],
    globalSetup: ["test/rig/own-temporary-folder.ts"],
    setupFiles: ["test/rig/seeded-laws.ts"],
    testTimeout: testLimit,
    // A hook may build the pages, or start a database and three nameservers.
    hookTimeout: 3 * testLimit,
    teardownTimeout: testLimit,
    expect: { poll: { timeout: patience, interval: 20 } },
    // Starting a process and reading the modules anew for each file would take longer than the tests in most of them.
    isolate: false,
    // Half of the time goes by waiting for processes, sockets and pages. A port range is kept for each of eight workers.
    maxWorkers: Math.min(8, 2 * availableParallelism()),
    sequence: { sequencer: WaitingBesideComputing },
  },
});
