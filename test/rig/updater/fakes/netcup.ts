import type { Asked, Reply } from "../services.ts";
import { type KeptRecord, keepRecords } from "./kept-records.ts";

/**
 * The CCP API of netcup: one address, a session id in the body, and the status 200 for everything (its endpoint's own
 * description). A session ends after 15 minutes (its CCP API page); a call with its id then gets 4001, as one with any
 * other text does (nbuchwitz/nc_dnsapi#9). Sometimes that happens to a session that was just opened
 * (stecklars/dynamic-dns-netcup-api#21).
 */
export function fakeNetcup(customer: string, key: string) {
  const kept = keepRecords();
  const sessions = new Set<string>();
  let opened = 0;
  const shown = ({ id, name, type, value }: KeptRecord) => ({
    ...{
      id: String(Number.parseInt(id, 16)),
      hostname: name,
      type,
      priority: "0",
      destination: value,
      deleterecord: false,
      state: "yes",
    },
  });
  const answer = (action: string, more: object): Reply => ({
    body: {
      serverrequestid: "s",
      clientrequestid: "",
      action,
      statuscode: 2000,
      shortmessage: "",
      longmessage: "",
      responsedata: "",
      ...more,
    },
  });
  const error = (action: string, statuscode: number, shortmessage: string, longmessage = "") =>
    answer(action, { status: "error", statuscode, shortmessage, longmessage });
  const ok = (action: string, responsedata: object) => answer(action, { status: "success", responsedata });
  type Param = {
    customernumber: string;
    apikey: string;
    apipassword?: string;
    apisessionid?: string;
    domainname: string;
    dnsrecordset: { dnsrecords: { id?: string; hostname: string; type: string; destination: string }[] };
  };
  const reply = ({ path, body }: Asked): Reply => {
    if (path !== "/?JSON" && path !== "?JSON") return { status: 404, body: "<html>" };
    const { action, param } = JSON.parse(body) as { action: string; param: Param };
    if (param.customernumber !== customer || param.apikey !== key) {
      return error(
        action,
        4013,
        "Validation Error.",
        "Api key validation failed. The customer number or the api key is wrong.",
      );
    }
    if (action === "login") {
      if (param.apipassword !== key) return error(action, 4013, "Validation Error.", "The login to the API failed.");
      opened += 1;
      const apisessionid = `session-${opened}-0123456789`;
      sessions.add(apisessionid);
      return ok(action, { apisessionid });
    }
    if (!sessions.has(param.apisessionid ?? ""))
      return error(action, 4001, "Api session id in invalid format", "The session id is not in a valid format.");
    if (param.domainname !== "example.org")
      return error(action, 5029, "Can not get DNS records for zone", "Domain not found.");
    if (action === "updateDnsRecords") {
      for (const { id, hostname, type, destination } of param.dnsrecordset.dnsrecords) {
        const record = kept.all.find((each) => String(Number.parseInt(each.id, 16)) === id);
        if (record) record.value = destination;
        else kept.add({ name: hostname, type, ttl: 300, value: destination });
      }
    }
    return ok(action, { dnsrecords: kept.all.map(shown) });
  };
  return { ...kept, reply, forget: () => sessions.clear() };
}
