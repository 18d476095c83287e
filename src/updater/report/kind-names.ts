import { presetTitles } from "../targets/targets.ts";

/** What people call the services and devices that `api:` and `kind:` name in the config. */
export const targetNames: Readonly<Record<string, string>> = {
  rrsets: "moor records",
  hetzner: "Hetzner",
  cloudflare: "Cloudflare",
  desec: "deSEC",
  rfc2136: "BIND, Knot or PowerDNS (DNS UPDATE)",
  powerdns: "PowerDNS (HTTP API)",
  route53: "Amazon Route 53",
  ovh: "OVHcloud",
  ionos: "IONOS",
  gandi: "Gandi",
  digitalocean: "DigitalOcean",
  porkbun: "Porkbun",
  inwx: "INWX",
  netcup: "netcup, for zones that have not moved to CloudDNS",
  "netcup-cloud": "netcup CloudDNS",
  namecheap: "Namecheap",
  bunny: "bunny.net",
  spaceship: "Spaceship",
  namecom: "name.com",
  godaddy: "GoDaddy",
  vultr: "Vultr",
  dyndns2: "No-IP, Dyn and other dyndns2 services",
  ...presetTitles,
  http: "another service, by one HTTP request",
  v1: "moor records, with its older API",
};

export const sourceNames: Readonly<Record<string, string>> = {
  firewall: "OPNsense, or moor firewall",
  opnsense: "OPNsense",
  interface: "this machine's own interfaces",
  web: "services on the internet, over HTTPS",
  dns: "services on the internet, over DNS",
  igd: "a router with UPnP, NAT-PMP or PCP",
  fritzbox: "FRITZ!Box",
  openwrt: "OpenWrt",
  mikrotik: "MikroTik",
  pfsense: "pfSense",
  command: "your own program",
};

const nameIn = (names: Readonly<Record<string, string>>, code: string): string => names[code] ?? code;

export const targetName = (api: string): string => nameIn(targetNames, api);
export const sourceName = (kind: string): string => nameIn(sourceNames, kind);

/** In this order they are offered: the first can create records. */
export const targetRank = (api: string): number => {
  const at = Object.keys(targetNames).indexOf(api);
  return at < 0 ? Number.MAX_SAFE_INTEGER : at;
};
