import { type Fault, fail, ok } from "../../result.ts";
import type { FieldKind, WireReader } from "./field.ts";
import {
  badParameter,
  mandatoryKeys,
  parseSvcParam,
  printSvcParam,
  type SvcParam,
  svcKeyName,
  svcKeys,
} from "./svc-param.ts";
import { readBytes, writeBytes } from "./text.ts";
import { quotedFault } from "./tokens.ts";

/** The parameters of an SVCB record, each in its canonical text, in the order of their numbers. There may be none. */
export const svcParams: FieldKind<readonly string[]> = {
  takes: "rest",
  absent: [],
  parse(tokens, { where }) {
    const params: SvcParam[] = [];
    const faults: Fault[] = [];
    for (const token of tokens) {
      const quoted = quotedFault(token, where);
      const param = quoted === undefined ? parseSvcParam(token.raw, where) : fail(quoted);
      if (param.ok) params.push(param.value);
      else faults.push(...param.faults);
    }
    params.sort((a, b) => a.key - b.key);
    const all = [...faults, ...togetherFaults(params, where)];
    return all.length > 0
      ? fail(...all.slice(0, maximumFaults))
      : ok(params.map((param) => printSvcParam(param) ?? ""));
  },
  print: (texts) => texts.join(" "),
  write(texts, out) {
    for (const { key, value } of texts.map(paramOf)) {
      out.push(key >> 8, key & 0xff, value.length >> 8, value.length & 0xff);
      writeBytes(value, out);
    }
  },
  read(wire) {
    const params: SvcParam[] = [];
    while (wire.at < wire.bytes.length) {
      const param = readParam(wire);
      if (param === undefined || param.key <= (params.at(-1)?.key ?? -1)) return undefined;
      params.push(param);
    }
    const texts = params.map(printSvcParam).filter((text) => text !== undefined);
    return texts.length === params.length && togetherFaults(params, "").length === 0 ? texts : undefined;
  },
};

/** A value can have hundreds of thousands of parts; a list of that many faults is useless. */
const maximumFaults = 20;

/** Each key appears once, mandatory keys are present (RFC 9460 section 8), and `no-default-alpn` requires `alpn`. */
function togetherFaults(params: readonly SvcParam[], where: string): readonly Fault[] {
  const faults: Fault[] = [];
  const keys = new Set(params.map((param) => param.key));
  for (const [i, { key, value }] of params.entries()) {
    if (key === params[i - 1]?.key) faults.push(badParameter(svcKeyName(key), "it is given twice", where));
    if (key !== svcKeys.mandatory) continue;
    for (const needed of mandatoryKeys(value).filter((each) => !keys.has(each)))
      faults.push(badParameter(svcKeyName(needed), "it is listed as mandatory but missing", where));
  }
  if (keys.has(svcKeys.noDefaultAlpn) && !keys.has(svcKeys.alpn))
    faults.push(badParameter(svcKeyName(svcKeys.noDefaultAlpn), "it requires the parameter alpn", where));
  return faults;
}

function paramOf(text: string): SvcParam {
  const param = parseSvcParam(text, "params");
  if (!param.ok) throw new Error("not the canonical text of a parameter");
  return param.value;
}

function readParam(wire: WireReader): SvcParam | undefined {
  if (wire.at + 4 > wire.bytes.length) return undefined;
  const [high = 0, low = 0, longer = 0, length = 0] = wire.bytes.subarray(wire.at, wire.at + 4);
  wire.at += 4;
  const size = longer * 256 + length;
  return wire.at + size > wire.bytes.length ? undefined : { key: high * 256 + low, value: readBytes(wire, size) };
}
