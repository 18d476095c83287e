import { stringify } from "yaml";
import type { FamilyField, NameFields, NamesEdit } from "../../contract/updater-page.ts";
import { isObject } from "../../core/is-object.ts";
import type { SettingChange, SettingValue } from "../config/edit-names.ts";

type NameEntry = Readonly<Record<string, unknown>>;

/** An entry of `names:` as the form shows it. */
export function fieldsOf(entry: NameEntry): NameFields {
  return {
    name: textOf(entry.name),
    zone: textOf(entry.zone),
    ipv4: familyOf(entry.ipv4),
    ipv6: familyOf(entry.ipv6),
    source: isObject(entry.source) ? "" : textOf(entry.source),
    target: textOf(entry.target),
    ttl: textOf(entry.ttl),
    create: entry.create === true,
    paused: entry.paused === true,
  };
}

/** The settings that the form does not have, each on one line. */
export function otherSettings(entry: NameEntry): readonly string[] {
  const { name: _n, zone: _z, target: _t, ttl: _l, create: _c, paused: _p, source, ipv4, ipv6, ...rest } = entry;
  const inner = [ipv4, ipv6].flatMap((family, i) => {
    const { interface: _i, ...more } = isObject(family) ? family : {};
    return Object.keys(more).length === 0 ? [] : [[i === 0 ? "ipv4" : "ipv6", more] as const];
  });
  const all = [...(isObject(source) ? [["source", source] as const] : []), ...inner, ...Object.entries(rest)];
  return all.map(([key, value]) =>
    stringify({ [key]: value }, { collectionStyle: "flow" })
      .trim()
      .slice(1, -1)
      .trim(),
  );
}

/** What to change in the file so that the form shows the new fields; what is the same stays as it is written. */
export function changesBetween(entry: NameEntry, next: NameFields): readonly SettingChange[] {
  const now = fieldsOf(entry);
  const changed = <K extends "name" | "zone" | "source" | "target" | "ttl">(
    key: K,
    value: (text: string) => SettingValue,
  ): readonly SettingChange[] =>
    next[key].trim() === now[key]
      ? []
      : [{ path: [key], value: next[key].trim() === "" ? undefined : value(next[key].trim()) }];
  const flag = (key: "create" | "paused"): readonly SettingChange[] =>
    next[key] === now[key] ? [] : [{ path: [key], value: next[key] ? true : undefined }];
  return [
    ...changed("name", String),
    ...changed("zone", String),
    ...familyChange("ipv4", entry.ipv4, now.ipv4, next.ipv4),
    ...familyChange("ipv6", entry.ipv6, now.ipv6, next.ipv6),
    ...changed("source", listed),
    ...changed("target", String),
    ...changed("ttl", (text) => (/^\d{1,15}$/.test(text) ? Number(text) : text)),
    ...flag("create"),
    ...flag("paused"),
  ];
}

function familyChange(key: string, written: unknown, now: FamilyField, next: FamilyField): readonly SettingChange[] {
  const devices = next.devices.trim();
  if (now.isOn === next.isOn && (!next.isOn || now.devices === devices)) return [];
  if (!next.isOn) return [{ path: [key], value: undefined }];
  if (isObject(written)) return [{ path: [key, "interface"], value: devices === "" ? undefined : listed(devices) }];
  return [{ path: [key], value: devices === "" ? true : listed(devices) }];
}

const textOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(String).join(", ");
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
};

function familyOf(value: unknown): FamilyField {
  const devices = textOf(isObject(value) ? value.interface : value);
  return { isOn: value !== undefined && value !== null && value !== false, devices };
}

function listed(text: string): SettingValue {
  const words = text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
  return words.length === 1 ? (words[0] ?? "") : words;
}

/** From the wire; undefined if it is none. */
export function readNamesEdit(wire: unknown): NamesEdit | undefined {
  if (!isObject(wire)) return undefined;
  const { kind, version, index, paused } = wire;
  if (typeof version !== "string") return undefined;
  const fields = isObject(wire.fields) ? readFields(wire.fields) : undefined;
  if (kind === "add") return fields && { kind, version, fields };
  if (typeof index !== "number" || !Number.isSafeInteger(index) || index < 0) return undefined;
  if (kind === "edit") return fields && { kind, version, index, fields };
  if (kind === "pause") return typeof paused === "boolean" ? { kind, version, index, paused } : undefined;
  return kind === "remove" ? { kind, version, index } : undefined;
}

/** Whatever is missing or of another type is empty. */
function readFields(fields: Readonly<Record<string, unknown>>): NameFields {
  const text = (key: string) => (typeof fields[key] === "string" ? fields[key] : "");
  const family = (key: string): FamilyField => {
    const { isOn, devices } = (isObject(fields[key]) ? fields[key] : {}) as Partial<Record<keyof FamilyField, unknown>>;
    return { isOn: isOn === true, devices: typeof devices === "string" ? devices : "" };
  };
  return {
    name: text("name"),
    zone: text("zone"),
    source: text("source"),
    target: text("target"),
    ttl: text("ttl"),
    ipv4: family("ipv4"),
    ipv6: family("ipv6"),
    create: fields.create === true,
    paused: fields.paused === true,
  };
}
