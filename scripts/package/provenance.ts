import { repository, run, sourceDate, version } from "./reproducible.ts";

/**
 * What a release was built from and with, so that others can rebuild and compare it. Contains no machine or mirror
 * names.
 */
export function printProvenance(tag: string | undefined, system: ReadonlyMap<string, readonly string[]>): string {
  const commit = run("git", "-C", repository, "rev-parse", "HEAD").trim();
  const firstLine = (...words: [string, ...string[]]) => run(...words).split("\n")[0] ?? "";
  const tools = [
    `Node ${process.versions.node}`,
    `npm ${firstLine("npm", "--version")}`,
    ...[
      firstLine("dpkg-deb", "--version"),
      firstLine("strip", "--version"),
      firstLine("gzip", "--version"),
      firstLine("xz", "--version"),
      firstLine("tar", "--version"),
    ],
  ];
  const packages = [...system].map(([architecture, names]) => `In the image for ${architecture}:\n\n${list(names)}`);
  return `# How moor ${version} was made

${tag === undefined ? "Without a tag: this is not a release." : `From the tag ${tag}.`} Commit ${commit}; all files have its time, ${new Date(sourceDate() * 1000).toISOString()}.

\`\`\`sh
git checkout ${tag ?? commit}
npm ci && npm run release${tag === undefined ? " -- --untagged" : ""}
\`\`\`

gives the same bytes with these tools and, for the images, these Debian packages. package-lock.json has the hashes of all npm packages,
scripts/package/node-binary.ts those of Node; apt checks the signatures of Debian. \`sha256sum --check SHA256SUMS\` compares.

${list(tools)}

${packages.join("\n\n")}
`;
}

const list = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join("\n");
