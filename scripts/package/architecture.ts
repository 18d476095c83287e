/** The processors that moor is packaged for, by Debian's names, which OCI uses too. */
export const architectures = ["amd64", "arm64"] as const;

export type Architecture = (typeof architectures)[number];

/** Their names in npm, and in Debian's library folders and binutils. `loader`: the dynamic linker. */
export const namesOf = {
  amd64: { npm: "linux-x64", debian: "x86_64-linux-gnu", loader: "lib64/ld-linux-x86-64.so.2" },
  arm64: { npm: "linux-arm64", debian: "aarch64-linux-gnu", loader: "lib/ld-linux-aarch64.so.1" },
} as const satisfies Record<Architecture, object>;

/** The value of `--architecture`, which may be repeated; all of them if it is absent. Throws for another. */
export function readArchitectures(given: readonly string[] | undefined): readonly Architecture[] {
  return (given ?? architectures).map((name) => {
    const found = architectures.find((known) => known === name);
    if (found === undefined) throw new Error(`--architecture ${name}: must be ${architectures.join(" or ")}`);
    return found;
  });
}
