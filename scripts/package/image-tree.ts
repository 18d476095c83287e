import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Architecture, namesOf } from "./architecture.ts";
import { type DebianPackage, librariesOf, makeMergedTree, unpackDebian } from "./debian-files.ts";
import { installNode, programFolder } from "./installed-program.ts";
import { nodeBinary } from "./node-binary.ts";

/** The user that moor runs as; the same id as in other images that do not run as root. */
export const userId = 65532;

/**
 * Node's libraries; `iproute2` and a shell for `moor firewall`; `busybox` for health checks and people; `base-files`
 * for the licences that the others refer to. Node has root certificates and time zones inside. busybox is not the
 * shell, because it would run its own `ip`.
 */
const wanted = ["libc6", "libstdc++6", "libgcc-s1", "libatomic1", "iproute2", "dash", "busybox", "base-files"];
const ofBusybox = ["cat", "env", "grep", "ls", "nc", "ps", "vi", "wget"];

const texts: Readonly<Record<string, string>> = {
  "etc/passwd": `root:x:0:0:root:/:/sbin/nologin\nmoor:x:${userId}:${userId}:moor:/data:/bin/sh\n`,
  "etc/group": `root:x:0:\nmoor:x:${userId}:\n`,
  // Without it, glibc queries DNS before it reads /etc/hosts.
  "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
};

/**
 * The lower layer: everything but moor itself, so that an upgrade of moor replaces only the small upper layer. Returns
 * its packages.
 */
export function makeSystemTree(architecture: Architecture, root: string, temporary: string): readonly DebianPackage[] {
  const { debian, loader } = namesOf[architecture];
  const packages = unpackDebian(architecture, wanted, temporary);
  const tree = join(temporary, "tree");
  const used = new Set<DebianPackage>();
  const put = (path: string) => {
    const from = packages.find(({ files }) => files.has(path));
    if (from === undefined) throw new Error(`no Debian package has ${path}`);
    used.add(from);
    mkdirSync(dirname(join(root, path)), { recursive: true });
    copyFileSync(join(tree, path), join(root, path));
    return join(root, path);
  };
  const putLibrariesOf = (program: string) => {
    for (const name of librariesOf(program)) {
      const path = `usr/lib/${debian}/${name}`;
      if (!existsSync(join(root, path))) putLibrariesOf(put(path));
    }
  };
  makeMergedTree(root);
  installNode(nodeBinary(architecture), root);
  putLibrariesOf(join(root, programFolder, "node"));
  for (const name of ["ip", "dash", "busybox"]) putLibrariesOf(put(`usr/bin/${name}`));
  symlinkSync(join("../lib", debian, basename(loader)), join(root, "usr", loader));
  symlinkSync("dash", join(root, "usr/bin/sh"));
  for (const name of ofBusybox) symlinkSync("busybox", join(root, "usr/bin", name));
  put("usr/lib/os-release");
  cpSync(join(tree, "usr/share/common-licenses"), join(root, "usr/share/common-licenses"), {
    recursive: true,
    verbatimSymlinks: true,
  });
  for (const { name, control } of used) {
    // Where vulnerability scanners look for packages.
    write(join(root, "var/lib/dpkg/status.d", name), control);
    mkdirSync(join(root, "usr/share/doc", name), { recursive: true });
    copyFileSync(join(tree, "usr/share/doc", name, "copyright"), join(root, "usr/share/doc", name, "copyright"));
  }
  for (const [path, text] of Object.entries(texts)) write(join(root, path), text);
  symlinkSync("../usr/lib/os-release", join(root, "etc/os-release"));
  mkdirSync(join(root, "data"), { mode: 0o700 });
  mkdirSync(join(root, "tmp"));
  chmodSync(join(root, "tmp"), 0o1777);
  return [...used];
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
