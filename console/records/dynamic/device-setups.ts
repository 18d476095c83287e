import { absoluteName } from "../../../src/core/names/name.ts";

/** What somebody enters in a device so that it sends its address to this service. */
export type Setup = {
  /** Where in the device's own pages. */
  readonly where: string;
  /** By the names that the device gives its fields. */
  readonly fields: readonly Field[];
  /** A file to write instead, or a script to run. */
  readonly text?: { readonly label: string; readonly content: string };
  readonly notes: readonly string[];
  readonly trust: Trust;
};

export type Field = { readonly label: string; readonly value: string };

/**
 * What the device does about this service's certificate: `unchecked`; `file`: it can be given `ca.pem`; `public`: it
 * accepts only a publicly trusted one.
 */
export type Trust = "unchecked" | "file" | "public";

export type SetupInput = {
  /** This service as the device sees it: `https://dns.example.org:8053`. */
  readonly origin: string;
  readonly zone: string;
  readonly owner: string;
  readonly secret: string;
};

type Facts = SetupInput & {
  /** The full name. */
  readonly host: string;
  /** The server with its port, and without the protocol. */
  readonly server: string;
};

/** The service ignores the user name, but devices insist on one. */
const user = "moor";

const devices = {
  fritzbox: {
    name: "FRITZ!Box",
    setup: ({ origin, host, secret }: Facts): Setup => ({
      where: "Internet → Permit Access → DynDNS",
      fields: [
        { label: "DynDNS provider", value: "User-defined" },
        {
          label: "Update URL",
          value: `${origin}/nic/update?hostname=<domain>&myip=<ipaddr>&myipv6=<ip6addr>`,
        },
        { label: "Domain name", value: host },
        { label: "User name", value: user },
        { label: "Password", value: secret },
      ],
      notes: ["Paste the update URL as it is: the FRITZ!Box fills in what is between < and >."],
      trust: "unchecked",
    }),
  },
  openwrt: {
    name: "OpenWrt",
    setup: ({ origin, host, secret }: Facts): Setup => {
      const url = origin.replace("//", "//[USERNAME]:[PASSWORD]@");
      const service = (name: string, network: string, more: string) => `config service "${name}"
  option enabled "1"
${more}  option update_url "${url}/nic/update?hostname=[DOMAIN]&myip=[IP]"
  option lookup_host "${host}"
  option domain "${host}"
  option username "${user}"
  option password "${secret}"
  option use_https "1"
  option cacert "/etc/ssl/moor-ca.pem"
  option interface "${network}"
  option ip_source "network"
  option ip_network "${network}"
`;
      return {
        where: "/etc/config/ddns, with the package ddns-scripts",
        fields: [],
        text: {
          label: "/etc/config/ddns",
          content: `${service("moor_ipv4", "wan", "")}
${service("moor_ipv6", "wan6", '  option use_ipv6 "1"\n')}`,
        },
        notes: ["Leave out the second part if you have no IPv6. Then run: service ddns restart"],
        trust: "file",
      };
    },
  },
  opnsense: {
    name: "OPNsense",
    setup: ({ server, host, secret }: Facts): Setup => ({
      where: "Services → Dynamic DNS → Settings, with the plug-in os-ddclient and its native backend: add an account",
      fields: [
        { label: "Service", value: "Custom" },
        { label: "Protocol", value: "DynDns2" },
        { label: "Server", value: server },
        { label: "Username", value: user },
        { label: "Password", value: secret },
        { label: "Hostname(s)", value: host },
      ],
      notes: ["Select “Force SSL”, and as “Check ip method” the interface. For IPv6, add a second account."],
      trust: "public",
    }),
  },
  pfsense: {
    name: "pfSense",
    setup: ({ origin, host, secret }: Facts): Setup => ({
      where: "Services → Dynamic DNS → Add",
      fields: [
        { label: "Service Type", value: "Custom" },
        { label: "Username", value: user },
        { label: "Password", value: secret },
        { label: "Update URL", value: `${origin}/nic/update?hostname=${host}&myip=%IP%` },
        { label: "Result Match", value: "good %IP%|nochg %IP%" },
      ],
      notes: ["For IPv6, add a second entry of the type “Custom (v6)” with the same settings."],
      trust: "public",
    }),
  },
  mikrotik: {
    name: "MikroTik",
    setup: ({ origin, host, secret }: Facts): Setup => ({
      where: "in a terminal of RouterOS 7",
      fields: [],
      text: {
        label: "commands",
        content: `/system script add name=moor policy=read,write,test source={
  :local wan "ether1"
  :local found [/ip address get [find interface=$wan disabled=no] address]
  :local address [:pick $found 0 [:find $found "/"]]
  :global moorSent
  :if ($address != $moorSent) do={
    /tool fetch url="${origin}/nic/update\\?hostname=${host}&myip=$address" user=${user} password=${secret} output=none
    :set moorSent $address
  }
}
/system scheduler add name=moor interval=1m on-event=moor`,
      },
      notes: ["Replace ether1 with the interface that has your public address, such as pppoe-out1."],
      trust: "unchecked",
    }),
  },
  unifi: {
    name: "UniFi",
    setup: ({ server, host, secret }: Facts): Setup => ({
      where: "Settings → Internet → your connection → Dynamic DNS → Create New",
      fields: [
        { label: "Service", value: "custom" },
        { label: "Hostname", value: host },
        { label: "Username", value: user },
        { label: "Password", value: secret },
        { label: "Server", value: `${server}/nic/update?hostname=%h&myip=%i` },
      ],
      notes: ["The server has no https:// in front."],
      trust: "public",
    }),
  },
  synology: {
    name: "Synology",
    setup: ({ origin, host, secret }: Facts): Setup => ({
      where: "Control Panel → External Access → DDNS: first “Customize Provider”, then “Add”",
      fields: [
        { label: "Service provider", value: "moor" },
        { label: "Query URL", value: `${origin}/nic/update?hostname=__HOSTNAME__&myip=__MYIP__` },
        { label: "Hostname", value: host },
        { label: "Username/Email", value: user },
        { label: "Password/Key", value: secret },
      ],
      notes: [
        "The first two are for “Customize Provider”. Under “Add”, choose the provider moor that you have just made.",
      ],
      trust: "public",
    }),
  },
  ddclient: {
    name: "ddclient",
    setup: ({ server, host, secret }: Facts): Setup => ({
      where: "/etc/ddclient.conf",
      fields: [],
      text: {
        label: "ddclient.conf",
        content: `ssl=yes
ssl_ca_file=/etc/ssl/moor-ca.pem
usev4=webv4, webv4=ipify-ipv4
protocol=dyndns2
server=${server}
login=${user}
password='${secret}'
${host}
`,
      },
      notes: [
        "For IPv6 too, add to the third line: , usev6=webv6, webv6=ipify-ipv6",
        "ddclient checks ipify with the same file, so add the certificates of the system to it: cat /etc/ssl/certs/ca-certificates.crt >> /etc/ssl/moor-ca.pem",
      ],
      trust: "file",
    }),
  },
  moor: {
    name: "moor",
    setup: ({ origin, zone, owner, secret }: Facts): Setup => ({
      where: "moor.yaml, for “moor update”",
      fields: [{ label: "File dns-token", value: secret }],
      text: {
        label: "moor.yaml",
        content: `sources:
  seen: { kind: web, services: [https://icanhazip.com, https://ident.me, https://ifconfig.co/ip], agree: 2, every: 5m }
targets:
  dns: { api: rrsets, url: "${origin}", token: { file: dns-token }, ca: moor-ca.pem }
names:
  - { name: ${JSON.stringify(owner)}, zone: ${zone}, ipv4: true, create: true }
`,
      },
      notes: ["Only you may read the file dns-token (chmod 600). “moor init” finds your router or firewall instead."],
      trust: "file",
    }),
  },
} as const;

export type Device = keyof typeof devices;

export const deviceNames: readonly { readonly value: Device; readonly label: string }[] = (
  Object.keys(devices) as Device[]
).map((value) => ({ value, label: devices[value].name }));

export function setupFor(device: Device, input: SetupInput): Setup {
  const host = absoluteName(input.owner, input.zone);
  return devices[device].setup({ ...input, host, server: new URL(input.origin).host });
}

/** The part that counts of what somebody typed; undefined if it is not the address of an HTTPS server. */
export function typedOrigin(text: string): string | undefined {
  const typed = text.trim();
  const url = URL.parse(typed.includes("://") ? typed : `https://${typed}`);
  return url?.protocol === "https:" && url.hostname !== "" ? url.origin : undefined;
}

/** Whether only this machine itself can reach it. */
export const isLoopback = (origin: string): boolean =>
  /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(URL.parse(origin)?.hostname ?? "");
