import type { Scope } from "../../../src/core/may.ts";
import { absoluteName } from "../../../src/core/names/name.ts";

export type Snippet = { readonly name: string; readonly about: string; readonly text: string };

/**
 * What to paste where. curl reads the token from standard input, because every user of a machine can read command
 * lines.
 */
export function snippetsFor(origin: string, secret: string, scope: Scope): readonly Snippet[] {
  const url = new URL(origin);
  const zone = scope.zones?.[0] ?? "example.org";
  const owner = scope.sets?.[0]?.owner ?? "home";
  const host = absoluteName(owner, zone);
  return [
    {
      name: "curl",
      about:
        "moor-ca.pem is the certificate below. Leave that option out if the service has a publicly trusted certificate.",
      text: `curl --cacert moor-ca.pem -H @- ${origin}/api/v1/zones <<< 'Auth-API-Token: ${secret}'`,
    },
    {
      name: "moor",
      about: "For moor.yaml; the token goes into the file dns-token.",
      text: `targets:
  dns: { url: "${origin}", token: { file: dns-token }, ca: moor-ca.pem }
names:
  - { name: ${JSON.stringify(owner)}, zone: ${zone}, ipv4: pppoe0, ipv6: igb0 }

# the file dns-token, readable only by you:
${secret}`,
    },
    {
      name: "ddclient",
      about:
        "For ddclient.conf. Leave out ssl_ca_file if the service has a publicly trusted certificate. ddclient checks every other server with that file too: add the certificates of the system to it.",
      text: `protocol=dyndns2
server=${url.host}
ssl=yes
ssl_ca_file=/etc/ddclient/moor-ca.pem
login=moor
password='${secret}'
${host}`,
    },
    {
      name: "acme.sh",
      about:
        "The token must be allowed to write TXT below the name. Leave out the first line and --ca-bundle if the service has a publicly trusted certificate.",
      // acme.sh uses the bundle for the certificate authority too.
      text: `cat /etc/ssl/certs/ca-certificates.crt moor-ca.pem > ca-and-system.pem
export HETZNER_API='${origin}/v1'
export HETZNER_TOKEN='${secret}'
acme.sh --issue --dns dns_hetznercloud --ca-bundle ca-and-system.pem -d ${host}`,
    },
  ];
}
