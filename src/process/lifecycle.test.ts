import { expect, it } from "vitest";
import { closeInReverse, type Opened } from "./lifecycle.ts";
import { createLog } from "./log.ts";

function rig() {
  const said: string[] = [];
  const closed: string[] = [];
  const opened = (name: string, close: () => void | Promise<void> = () => undefined): Opened => ({
    name,
    close: () => {
      closed.push(name);
      return close();
    },
  });
  return { said, closed, opened, log: createLog({ format: "text", write: (line) => said.push(line) }) };
}

it("closes in reverse order of opening", async () => {
  const { closed, opened, log } = rig();
  await closeInReverse([opened("database"), opened("server"), opened("watcher")], log);
  expect(closed).toEqual(["watcher", "server", "database"]);
});

it("continues after something fails to close, and logs what it was", async () => {
  const { said, closed, opened, log } = rig();
  const broken = opened("server", () => Promise.reject(new Error("broken")));
  await closeInReverse([opened("database"), broken], log);
  expect(closed).toEqual(["server", "database"]);
  expect(said.join("")).toContain("what=server error=broken");
});

it("abandons what does not close in time", async () => {
  const { said, closed, opened, log } = rig();
  const stuck = opened("server", () => new Promise(() => undefined));
  await closeInReverse([opened("database"), stuck], log, 50);
  expect(closed).toEqual(["server", "database"]);
  expect(said.join("")).toContain("took too long");
});
