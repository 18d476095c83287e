import { expect, it } from "vitest";
import { importConfig } from "../../../../test/rig/cli/import-config.ts";
import { type SampleConfig, sampleConfigs } from "../../../../test/rig/cli/sample-configs.ts";

const keyOf = ({ program, name }: SampleConfig) => `${program}: ${name}`;

it.each(sampleConfigs)("$program: $name is carried over, or the reason is given", async (sample) => {
  const { code, lost, said } = await importConfig(sample.text);
  const why = missing[keyOf(sample)];
  if (why === undefined) expect([code, code === 0 ? "" : said]).toEqual([0, ""]);
  else expect(lost.join("\n")).toContain(why);
});

it("carries at least 120 of them", () => {
  expect(Object.keys(missing).filter((key) => !sampleConfigs.some((sample) => keyOf(sample) === key))).toEqual([]);
  expect(sampleConfigs.length - Object.keys(missing).length).toBeGreaterThanOrEqual(120);
});

const closed = "the service has closed";
const noRecord = "it does not write a DNS record";
const without = (program: string, ...names: string[]) =>
  Object.fromEntries(names.map((name) => [`${program}: ${name}`, "moor has no target for"]));

/** The samples that are not carried over, and what the user reads about it. */
const missing: Readonly<Record<string, string>> = {
  ...without("ddclient", "dinahosting", "directnic", "luadns", "nfsn", "sitelutions", "woima", "yandex"),
  "ddclient: dnsexit": "write them by hand: `api: dnsexit`",
  "ddclient: dnsmadeeasy": "numbers of records, not names",
  "ddclient: dslreports1": noRecord,
  "ddclient: emailonly": noRecord,
  "ddclient: googledomains": closed,
  "ddclient: mythdyn": "the service takes the address from the connection",
  ...without("inadyn", "default@sitelutions.com", "default@dhis.org", "default@giradns.com", "default@duiadns.net"),
  ...without("inadyn", "dnspod.cn", "default@goip.de", "default@mydns.jp", "simplycom", "default@pdd.yandex.ru"),
  "inadyn: default@cloudxns.net": closed,
  "inadyn: default@dnsexit.com": "write them by hand: `api: dnsexit`",
  "inadyn: default@domains.google.com": closed,
  "inadyn: default@dtdns.com": closed,
  "inadyn: default@tunnelbroker.net": noRecord,
  "inadyn: default@tzo.com": closed,
  "inadyn: default@zerigo.com": closed,
  ...without("ddns-updater", "aliyun", "dnspod", "dreamhost", "gcp", "goip", "linode", "luadns", "namesilo"),
  ...without("ddns-updater", "scaleway", "servercow", "vercel"),
};
