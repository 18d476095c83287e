/** RFC 7617: everything after the first colon. The user name is ignored. */
export function passwordOf(header: string | undefined): string | undefined {
  const [, encoded] = /^basic +([A-Za-z0-9+/_-]+=*)$/i.exec(header ?? "") ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const cut = text.indexOf(":");
  return cut < 0 || cut === text.length - 1 ? undefined : text.slice(cut + 1);
}
