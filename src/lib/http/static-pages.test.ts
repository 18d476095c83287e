import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createStaticPages } from "./static-pages.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "moor-pages-"));
  await mkdir(join(folder, "assets"));
  await writeFile(join(folder, "records.html"), "<p>page</p>");
  await writeFile(join(folder, "assets/a-1.js"), "1");
  await writeFile(join(folder, "assets/a-1.js.gz"), gzipSync("1"));
  await mkdir(join(folder, "assets/folder"));
  await writeFile(join(folder, "secret"), "not for anybody");
});
afterAll(() => rm(folder, { recursive: true }));

const pages = () => createStaticPages({ page: "records", isPage: (path) => path === "/" || path === "/zones", folder });

describe("pages", () => {
  it("are the same file at each of their paths, have a strict policy, and are revalidated", async () => {
    for (const path of ["/", "/zones"]) {
      const answer = await pages()(path, undefined);
      expect(answer?.body.toString()).toBe("<p>page</p>");
      expect(answer?.headers).toMatchObject({
        "cache-control": "no-cache",
        "content-security-policy": expect.stringMatching(
          /default-src 'none'.*script-src 'self';.*frame-ancestors 'none'/,
        ),
        "x-content-type-options": "nosniff",
      });
    }
  });

  it("have assets that are compressed for clients that accept it, and may be cached forever", async () => {
    const zipped = await pages()("/assets/a-1.js", "br, gzip");
    expect(zipped?.headers).toMatchObject({
      "content-encoding": "gzip",
      "cache-control": expect.stringContaining("immutable"),
    });
    expect((await pages()("/assets/a-1.js", undefined))?.body.toString()).toBe("1");
  });

  it.for(["/assets/../secret", "/assets/%2e%2e/secret", "/assets/..%2fsecret", "/secret", "/assets/a/b"])(
    "do not expose other files: %s",
    async (path) => {
      const answer = await pages()(path, "gzip");
      expect(answer === undefined || answer.status === 404).toBe(true);
    },
  );

  it.for(["/assets/..", "/assets/.", "/assets/folder"])(
    "are still served after a request for a folder: %s",
    async (path) => {
      const answering = pages();
      expect(await answering(path, undefined)).toMatchObject({ status: 404 });
      expect(await answering("/assets/a-1.js", undefined)).toMatchObject({ status: 200 });
    },
  );

  it("do not fail for a name that is too long for the file system", async () => {
    expect(await pages()(`/assets/${"a".repeat(300)}`, undefined)).toBeUndefined();
  });

  it("are read again after they could not be read", async () => {
    const file = join(folder, "assets/late.js");
    await symlink(file, file);
    const answering = pages();
    await expect(answering("/assets/late.js", undefined)).rejects.toThrow("ELOOP");
    await rm(file);
    await writeFile(file, "2");
    expect((await answering("/assets/late.js", undefined))?.body.toString()).toBe("2");
  });

  it("say how to build them if they are missing", async () => {
    const answer = await createStaticPages({ page: "firewall", isPage: () => true, folder })("/", undefined);
    expect(answer?.status).toBe(503);
    expect(answer?.body).toContain("npm run build:console");
  });
});
