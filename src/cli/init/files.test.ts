import { chownSync, mkdtempSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { adoptDraft, type Setup, setupFiles, writeDraft } from "./files.ts";

const setup: Setup = {
  sources: [{ name: "web", settings: { kind: "web" }, files: [] }],
  targets: [
    {
      name: "records",
      settings: { api: "desec", token: { file: "secrets/records-token" } },
      files: [{ path: "secrets/records-token", text: "t\n" }],
    },
  ],
  names: [{ name: "home", zone: "example.org", ipv4: true }],
  interval: "30s",
  onlyPublic: true,
};
const configAt = (path: string) => setupFiles(setup, path).at(-1)?.text;

describe("the files of moor init", () => {
  it("keep the state in the folder that the systemd unit can write to, if the config is the unit's", () => {
    expect(configAt("/etc/moor/moor.yaml")).toContain(
      "\nstate: /var/lib/moor/state.json\nhistory: /var/lib/moor/history.jsonl\n",
    );
    expect(configAt("/home/ann/moor.yaml")).not.toMatch(/^(?:state|history):/m);
  });

  it.runIf(process.getuid?.() === 0)("belong to the owner of the folder when root writes them", async () => {
    const folder = mkdtempSync(join(tmpdir(), "moor-init-files-"));
    chownSync(folder, 4711, 4712);
    const files = setupFiles(setup, join(folder, "moor.yaml"));
    const draft = await writeDraft(folder, files);
    await adoptDraft(draft.folder, folder, files);
    await draft.discard();
    for (const path of ["moor.yaml", "secrets", "secrets/records-token"])
      expect(statSync(join(folder, path))).toMatchObject({ uid: 4711, gid: 4712 });
  });
});
