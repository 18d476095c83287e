import { findElements, readXml, textIn } from "../../../../src/lib/http-client/xml.ts";
import { signAws } from "../../../../src/updater/targets/services/sign-aws.ts";
import type { Asked, Reply } from "../services.ts";
import { keepRecords } from "./kept-records.ts";

/**
 * The three calls of Route 53, as its API reference shows them.
 * - ListHostedZonesByName: sorted by reversed labels, at most 100, then NextDNSName and NextHostedZoneId. Private zones
 *   are listed too.
 * - ListResourceRecordSets: at most 300, then NextRecordName and NextRecordType.
 * - ChangeResourceRecordSets: all or nothing. InvalidChangeBatch has the reasons, in one of two formats (aws-sdk-go,
 *   `service/route53/unmarshal_error.go`); the texts are those in hashicorp/terraform#9732 and
 *   widdix/node-route53-updater#3.
 */
export function fakeRoute53(id: string, secret: string) {
  const kept = keepRecords();
  /** Without the one that holds the records. */
  const otherZones: { readonly id: string; readonly name: string; readonly isPrivate: boolean }[] = [];
  const format = { now: "InvalidChangeBatch" as "InvalidChangeBatch" | "ErrorResponse" };
  const absolute = (name: string) => (name === "@" ? "example.org." : `${name}.example.org.`);
  const xml = (body: string, status = 200): Reply => ({
    status,
    body: `<?xml version="1.0" encoding="UTF-8"?>\n${body}`,
    headers: { "content-type": "text/xml" },
  });
  const error = (status: number, code: string, message: string) =>
    xml(
      `<ErrorResponse xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>b25f48e8</RequestId></ErrorResponse>`,
      status,
    );
  const setXml = (name: string, type: string) => {
    const values = kept.of(name, type);
    const records = values.map(
      ({ value }) => `<ResourceRecord><Value>${value.replaceAll('"', "&quot;")}</Value></ResourceRecord>`,
    );
    return `<ResourceRecordSet><Name>${absolute(name)}</Name><Type>${type}</Type><TTL>${values[0]?.ttl}</TTL><ResourceRecords>${records.join("")}</ResourceRecords></ResourceRecordSet>`;
  };
  const sets = () => [...new Map(kept.all.map(({ name, type }) => [`${name} ${type}`, { name, type }])).values()];
  /** By reversed labels, then by type, as the real one sorts. */
  const key = (name: string, type: string) => `${name.split(".").toReversed().join(" ")} ${type}`;

  const zoneList = (query: URLSearchParams): Reply => {
    const order = (name: string, zoneId: string) => `${key(`${name.replace(/\.$/, "")}.`, "")} ${zoneId}`;
    const from =
      query.get("dnsname") === null ? "" : order(query.get("dnsname") ?? "", query.get("hostedzoneid") ?? "");
    const all = [{ id: "Z111", name: "example.org", isPrivate: false }, ...otherZones]
      .filter((zone) => order(zone.name, zone.id) >= from)
      .toSorted((a, b) => (order(a.name, a.id) < order(b.name, b.id) ? -1 : 1));
    const some = all.slice(0, Math.min(100, Number(query.get("maxitems") ?? 100)));
    const next = all[some.length];
    const shown = some.map(
      (zone) =>
        `<HostedZone><Id>/hostedzone/${zone.id}</Id><Name>${zone.name}.</Name><Config><PrivateZone>${zone.isPrivate}</PrivateZone></Config></HostedZone>`,
    );
    const more = next ? `<NextDNSName>${next.name}.</NextDNSName><NextHostedZoneId>${next.id}</NextHostedZoneId>` : "";
    return xml(
      `<ListHostedZonesByNameResponse><HostedZones>${shown.join("")}</HostedZones><IsTruncated>${next !== undefined}</IsTruncated>${more}</ListHostedZonesByNameResponse>`,
    );
  };

  const reply = ({ method, path, headers, body }: Asked): Reply => {
    const url = new URL(path, "http://x");
    const signed = { method, host: headers.host ?? "", path: url.pathname, query: url.search.slice(1), body };
    const date = String(headers["x-amz-date"]).replace(/^(....)(..)(..T..)(..)(..)Z$/, "$1-$2-$3:$4:$5Z");
    const wanted = signAws(signed, { id, secret, region: "us-east-1", service: "route53" }, Date.parse(date));
    if (headers.authorization !== wanted.authorization) {
      return error(
        403,
        "SignatureDoesNotMatch",
        "The request signature we calculated does not match the signature you provided.",
      );
    }
    if (url.pathname.endsWith("/hostedzonesbyname")) return zoneList(url.searchParams);
    if (!url.pathname.startsWith("/2013-04-01/hostedzone/Z111/rrset")) {
      return error(404, "NoSuchHostedZone", `No hosted zone found with ID: ${url.pathname}`);
    }
    if (method === "GET") {
      const [name, type] = [url.searchParams.get("name"), url.searchParams.get("type") ?? ""];
      const start = name === null ? "" : key(`${name.replace(/\.$/, "")}.`, type);
      const found = sets().filter((set) => key(absolute(set.name), set.type) >= start);
      const sorted = found.toSorted((a, b) => (key(absolute(a.name), a.type) < key(absolute(b.name), b.type) ? -1 : 1));
      const some = sorted.slice(0, Math.min(300, Number(url.searchParams.get("maxitems") ?? 300)));
      const next = sorted[some.length];
      const more = next
        ? `<IsTruncated>true</IsTruncated><NextRecordName>${absolute(next.name)}</NextRecordName><NextRecordType>${next.type}</NextRecordType>`
        : "<IsTruncated>false</IsTruncated>";
      return xml(
        `<ListResourceRecordSetsResponse><ResourceRecordSets>${some.map((set) => setXml(set.name, set.type)).join("")}</ResourceRecordSets>${more}</ListResourceRecordSetsResponse>`,
      );
    }
    const before = structuredClone(kept.all);
    const faults = findElements(readXml(body) ?? { name: "", text: "", children: [] }, "Change").flatMap((change) => {
      const name = (textIn(change, "Name") ?? "").replace(/\.?example\.org\.$/, "") || "@";
      const [type, ttl] = [textIn(change, "Type") ?? "", Number(textIn(change, "TTL"))];
      const values = findElements(change, "ResourceRecord").map((record) => textIn(record, "Value") ?? "");
      const held = kept.of(name, type);
      if (textIn(change, "Action") === "CREATE") {
        if (kept.of(name, "CNAME").length > 0)
          return [
            `RRSet of type ${type} with DNS name ${absolute(name)} is not permitted because a conflicting RRSet of type  CNAME with the same DNS name already exists in zone example.org.`,
          ];
        if (held.length > 0)
          return [
            `Tried to create resource record set [name='${absolute(name)}', type='${type}'] but it already exists`,
          ];
        kept.put({ name, type, ttl, values });
        return [];
      }
      if (held.length === 0)
        return [`Tried to delete resource record set [name='${absolute(name)}', type='${type}'] but it was not found`];
      const isExact =
        held.map(({ value }) => value).join() === values.join() && held.every((record) => record.ttl === ttl);
      if (!isExact)
        return [
          `Tried to delete resource record set [name='${absolute(name)}', type='${type}'] but the values provided do not match the current values`,
        ];
      kept.put({ name, type, ttl, values: [] });
      return [];
    });
    if (faults.length > 0) {
      kept.all.splice(0, kept.all.length, ...before);
      if (format.now === "ErrorResponse") return error(400, "InvalidChangeBatch", `[${faults.join(", ")}]`);
      return xml(
        `<InvalidChangeBatch xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><Messages>${faults.map((fault) => `<Message>${fault}</Message>`).join("")}</Messages><RequestId>b25f48e8</RequestId></InvalidChangeBatch>`,
        400,
      );
    }
    return xml(
      "<ChangeResourceRecordSetsResponse><ChangeInfo><Id>/change/C2682N5HXP0BZ4</Id><Status>PENDING</Status><SubmittedAt>2026-01-01T00:00:00Z</SubmittedAt></ChangeInfo></ChangeResourceRecordSetsResponse>",
    );
  };
  return { ...kept, reply, error, otherZones, format };
}
