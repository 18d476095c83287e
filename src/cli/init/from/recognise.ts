/** The programs whose configs can be taken over. */
export type KnownProgram = "ddclient" | "inadyn" | "ddns-updater" | "ddns-go" | "cloudflare-ddns" | "ddns-scripts";

/** Which program a config is for, by what only its format has; otherwise what else it seems to be. */
export function recognise(text: string): KnownProgram | { readonly seems: string } {
  const body = text.trim();
  if (body === "") return { seems: "it is empty" };
  if (body.startsWith("{")) {
    return /"settings"\s*:/.test(body) ? "ddns-updater" : { seems: "it is JSON, but has no list `settings`" };
  }
  if (body.startsWith("<")) return { seems: "it looks like XML or a web page" };
  if (/^(?:sources|targets|names):/m.test(body)) return { seems: "it looks like a config of moor itself" };
  if (/^\s*config\s+["']?service\b/m.test(body)) return "ddns-scripts";
  if (/^dnsconf:/m.test(body) || /^ipv[46]:\s*\n\s+enable:/m.test(body)) return "ddns-go";
  if (/\b(?:CLOUDFLARE|CF)_API_TOKEN(?:_FILE)?["']?\s*[=:]/.test(body) && /DOMAINS["']?\s*[=:]/.test(body))
    return "cloudflare-ddns";
  if (/^\s*(?:provider|custom)\s+\S+\s*\{/m.test(body)) return "inadyn";
  if (/^\s*(?:--)?(?:dyndns_system|update_period|dyndns_server_name)\b/m.test(body))
    return { seems: "it looks like a config of inadyn 1; inadyn 2 converts it" };
  const assignments = body.match(/^[^#\n]*?\b(?:protocol|use(?:v[46])?|login|password|server|daemon|zone)=/gm);
  return assignments ? "ddclient" : { seems: "it looks like none of these" };
}
